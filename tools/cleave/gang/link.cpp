#include "gang/link.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "gang/channel.hpp"
#include "machine/without_signals.hpp"
#include "nats/connection.hpp"
#include "support/command_line.hpp"

namespace gang {
namespace {

namespace nats = cleave::net::nats;
using namespace std::chrono_literals;

constexpr std::string_view ping = "gang-ping", pong = "gang-pong";
constexpr moment ping_first = 15ms, ping_every = 200ms;
constexpr std::size_t first_pings = 8;
constexpr moment longest_trip = 5s;
constexpr auto others_join = 3s;  // after a relay has begun, all find it within this time
constexpr std::size_t most_heard = 1 << 16;

nats::endpoint endpoint_of(const peers::name& who) {
  const auto at = nats::read_machine(who.machine);
  return {at.value_or(nats::machine{}), who.process};
}

peers::name name_of(const nats::endpoint& e) { return {e.at.text(), e.process}; }

class nats_link final : public link {
public:
  explicit nats_link(nats::access who)
      : who_(std::move(who)),
        self_{who_.site + "." + who_.name, "gang-" + nats::random_token()},
        event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_.descriptor() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    try {
      connect({});
    } catch (const nats::unreachable& e) {
      fmt::print(stderr, "cleave: {}; trying again\n", e.what());
    }
    const cleave::machine::without_signals blocked;
    thread_ = std::thread([this] { run(); });
  }
  ~nats_link() override {
    over_ = true;
    ring();
    thread_.join();
  }
  nats_link(const nats_link&) = delete;
  nats_link& operator=(const nats_link&) = delete;

  const peers::name& self() const override { return self_; }
  int descriptor() const override { return event_.descriptor(); }
  bool is_joined() const override { return joined_; }

  std::vector<heard> take() override {
    std::uint64_t count;
    static_cast<void>(!read(event_.descriptor(), &count, sizeof count));
    const std::lock_guard lock(mutex_);
    if (!refused_.empty()) throw apps::usage_error(refused_);
    return std::exchange(heard_, {});
  }

  void say(std::string_view topic, std::string text) override {
    {
      const std::lock_guard lock(mutex_);
      to_say_.emplace_back(topic, std::move(text));
    }
    ring();
  }

  void follow(const peers::name& leader) override {
    {
      const std::lock_guard lock(mutex_);
      if (leader == leader_.who) return;
      leader_.who = leader;
      leader_.clock = {};
      leader_.ping_at = {};
    }
    ring();
  }

  std::optional<clock_offset::estimate> ahead() const override {
    const std::lock_guard lock(mutex_);
    return leader_.clock.at(now());
  }

private:
  void connect(const nats::connection::settings& how) {
    auto made = std::make_shared<nats::connection>(who_, self_.process, how);
    made->listen(std::string(heartbeat_topic));
    made->listen(std::string(turns_topic));
    const std::lock_guard lock(mutex_);
    by_ = std::move(made);
  }

  void ring() {
    const std::lock_guard lock(mutex_);
    if (by_ != nullptr) by_->ring();
  }

  void run() {
    for (std::string said; by_ == nullptr && !over_;) {
      try {
        nats::connection::settings once;
        once.tries = 1;
        connect(once);
      } catch (const nats::unreachable&) {
      } catch (const nats::refused& e) {
        return be_refused(e.what());
      } catch (const std::exception& e) {
        if (said != e.what()) fmt::print(stderr, "cleave: {}; trying again\n", said = e.what());
      }
      for (int k = 0; k < 10 && by_ == nullptr && !over_; ++k) std::this_thread::sleep_for(50ms);
    }
    while (!over_) {
      if (const auto why = by_->refusal()) return be_refused(*why);
      note_joined();
      send();
      const moment left = ping_if_due() - now();
      by_->wait(std::chrono::ceil<std::chrono::microseconds>(std::max(left, moment(0))));
      while (const auto l = by_->receive()) hear(*l, now());
    }
  }

  void be_refused(std::string why) {
    {
      const std::lock_guard lock(mutex_);
      refused_ = std::move(why);
    }
    tell_daemon();
  }

  void note_joined() {
    const bool joined = by_->is_up();
    if (by_->times_made() != made_.times) made_.times = by_->times_made(), made_.at = now();
    if (joined_.exchange(joined) != joined) tell_daemon();
  }

  void send() {
    std::vector<std::pair<std::string, std::string>> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(to_say_);
    }
    for (const auto& [topic, text] : all) {
      if (text.size() <= nats::connection::most_to_all()) by_->tell_all(topic, text);
      else fmt::print(stderr, "cleave: a message of {} bytes is too long\n", text.size());
    }
  }

  // Pings the leader if it is time; returns when the next ping is due.
  moment ping_if_due() {
    peers::name leader;
    {
      const std::lock_guard lock(mutex_);
      if (leader_.who.process.empty() || leader_.who == self_) return now() + 1s;
      const moment at = now();
      if (at < leader_.ping_at) return leader_.ping_at;
      leader_.ping_at = at + (leader_.clock.samples() < first_pings ? ping_first : ping_every);
      leader = leader_.who;
    }
    by_->send(endpoint_of(leader), ping, fmt::format("{}", now().count()), true);
    const std::lock_guard lock(mutex_);
    return leader_.ping_at;
  }

  void hear(const nats::letter& l, moment at) {
    std::string text(reinterpret_cast<const char*>(l.content.data()), l.content.size());
    if (l.nobody) {
      if (now() - made_.at > others_join) deliver({name_of(l.from), "", ""});
    } else if (l.to_all) {
      deliver({name_of(l.from), l.topic, std::move(text)});
    } else if (l.topic == ping && text.size() <= 20) {
      by_->send(l.from, pong, fmt::format("{} {} {}", text, at.count(), now().count()));
    } else if (l.topic == pong) {
      long long sent = 0, received = 0, returned = 0;
      if (std::sscanf(text.c_str(), "%lld %lld %lld", &sent, &received, &returned) != 3) return;
      constexpr long long latest = 1LL << 60;
      const moment trip = at - moment(sent);
      if (trip < moment(0) || trip > longest_trip || received < 0 || returned < received ||
          returned > latest)
        return;
      const std::lock_guard lock(mutex_);
      if (name_of(l.from) == leader_.who)
        leader_.clock.add(moment(sent), moment(received), moment(returned), at);
    }
  }

  void deliver(heard one) {
    {
      const std::lock_guard lock(mutex_);
      if (heard_.size() >= most_heard) return;  // the daemon hangs; later messages say it again
      heard_.push_back(std::move(one));
    }
    tell_daemon();
  }
  void tell_daemon() {
    const std::uint64_t one = 1;
    static_cast<void>(!write(event_.descriptor(), &one, sizeof one));
  }

  struct connections_made {
    unsigned times = 0;
    moment at{};
  };
  struct followed {
    peers::name who;
    clock_offset clock;
    moment ping_at{};
  };

  const nats::access who_;
  const peers::name self_;
  const channel event_;
  std::atomic<bool> over_{false}, joined_{false};
  connections_made made_;  // only the thread touches it

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<nats::connection> by_;
  std::vector<heard> heard_;
  std::string refused_;  // why the relay will never be joined; "": it may be
  std::vector<std::pair<std::string, std::string>> to_say_;
  followed leader_;

  std::thread thread_;
};

}  // namespace

std::unique_ptr<link> link::make(const std::string& where) try {
  return std::make_unique<nats_link>(nats::find_access(where));
} catch (const nats::refused& e) {
  throw apps::usage_error(e.what());
} catch (const std::invalid_argument& e) {
  throw apps::usage_error(fmt::format("--join: {}", e.what()));
}

}  // namespace gang
