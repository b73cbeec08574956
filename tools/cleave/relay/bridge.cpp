#include "relay/bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "machine/without_signals.hpp"
#include "nats/dial.hpp"
#include "nats/pulse.hpp"
#include "nats/subjects.hpp"

namespace relay {
namespace {

namespace nats = cleave::net::nats;
using nats::access;
using nats::nats_connection;

constexpr auto first_pause = std::chrono::milliseconds(500),
               longest_pause = std::chrono::milliseconds(5000),
               ping_every = std::chrono::milliseconds(1000),
               answer_within = std::chrono::milliseconds(2000);
constexpr std::size_t most_heard = 10'000;
constexpr int most_pending = 512 << 20;  // bytes that the slower side has not taken yet

struct subscription_freed {
  void operator()(natsSubscription* s) const { natsSubscription_Destroy(s); }
};
using subscription = std::unique_ptr<natsSubscription, subscription_freed>;

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(natsStatus s, const std::string& what) {
  if (s != NATS_OK) throw failure(fmt::format("{}: {}", what, nats::last_words(s)));
}

// What threads of nats.c touch. They may come late, so it is never freed.
struct events {
  std::function<void(const std::string&)> say;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool ending = false;
  std::set<std::string> said;

  void say_once(const std::string& line) {
    {
      const std::lock_guard lock(mutex);
      if (said.size() > 100 || !said.insert(line).second) return;
    }
    say(line);
  }

  static void on_closed(natsConnection*, void* self) {
    auto& e = *static_cast<events*>(self);
    const std::lock_guard lock(e.mutex);
    e.changed.notify_all();
  }
  static void on_error(natsConnection* c, natsSubscription*, natsStatus s, void* self) {
    const char* text = nullptr;
    natsConnection_GetLastError(c, &text);
    const bool more = text != nullptr && *text != '\0';
    static_cast<events*>(self)->say_once(
        fmt::format("bridge: {}", more ? text : natsStatus_GetText(s)));
  }
};

class nats_bridge : public bridge {
public:
  nats_bridge(access upstream, access own, std::function<void(const std::string&)> say)
      : upstream_(std::move(upstream)), own_(std::move(own)), events_(*new events) {
    events_.say = std::move(say);
    const cleave::machine::without_signals blocked;
    thread_ = std::thread([this] { keep(); });
  }
  ~nats_bridge() override {
    {
      const std::lock_guard lock(events_.mutex);
      events_.ending = true;
    }
    events_.changed.notify_all();
    thread_.join();
  }
  nats_bridge(const nats_bridge&) = delete;
  nats_bridge& operator=(const nats_bridge&) = delete;

private:
  // Both connections live and end together; between two lives whatever is said is lost, which
  // nodes expect.
  struct life {
    nats_bridge& of;
    nats_connection up, down;
    std::optional<nats::pulse> up_pulse, down_pulse;
    std::mutex mutex;  // guards what follows
    std::condition_variable ended;
    int running = 0;  // threads of nats.c that may look at this
    std::vector<subscription> subscriptions;

    explicit life(nats_bridge& b) : of(b) {}
    ~life() {
      natsConnection_Close(up.get()), natsConnection_Close(down.get());
      std::unique_lock lock(mutex);
      ended.wait(lock, [this] { return running == 0; });
    }
    life(const life&) = delete;
    life& operator=(const life&) = delete;

    bool is_whole() const {
      return !natsConnection_IsClosed(up.get()) && !natsConnection_IsClosed(down.get()) &&
             !up_pulse->is_silent() && !down_pulse->is_silent();
    }
  };
  // One subscription, for nats.c.
  struct hook {
    life& of;
    void (*then)(life&, natsMsg*);
    std::atomic<bool> armed{false};

    hook(life& l, void (*f)(life&, natsMsg*)) : of(l), then(f) {}
    static void on_message(natsConnection*, natsSubscription*, natsMsg* m, void* self) {
      auto& h = *static_cast<hook*>(self);
      if (h.armed) h.then(h.of, m);
      natsMsg_Destroy(m);
    }
    static void on_end(void* self) {
      life& l = static_cast<hook*>(self)->of;
      delete static_cast<hook*>(self);
      const std::lock_guard lock(l.mutex);
      --l.running;
      l.ended.notify_all();
    }
  };

  nats_connection connect(const access& to, const std::string& what) {
    nats::dialling how;
    how.name = fmt::format("{}.{}", to.site, to.name);
    how.write_within = std::chrono::milliseconds(2000);
    how.on_error = events::on_error, how.on_closed = events::on_closed, how.closure = &events_;
    std::string refused, failed = "it has no URL";
    for (const std::string& url : to.urls) try {
        return nats::dial(to, url, how);
      } catch (const nats::key_refused&) {
        refused = url;  // another server may know of a newer key
      } catch (const std::exception& e) { failed = e.what(); }
    if (refused.empty()) throw failure(fmt::format("{}: {}", what, failed));
    throw nats::key_refused(
        fmt::format("{}, {}: it refuses this relay's key (is it revoked?)", what, refused));
  }

  void listen(life& l, natsConnection* at, const std::string& filter,
              void (*then)(life&, natsMsg*)) {
    auto own = std::make_unique<hook>(l, then);
    natsSubscription* s = nullptr;
    check(natsConnection_Subscribe(&s, at, filter.c_str(), hook::on_message, own.get()), filter);
    hook* const h = own.release();
    const std::lock_guard lock(l.mutex);
    l.subscriptions.emplace_back(s);
    // If the subscription has ended already, nobody says when its thread has: that hook stays for
    // ever, unarmed.
    check(natsSubscription_SetOnCompleteCB(s, hook::on_end, h), filter);
    ++l.running;
    h->armed = true;
    natsSubscription_SetPendingLimits(s, -1, most_pending);
  }

  // Passes a message from others to this site, and to those below it.
  static void pass_down(life& l, natsMsg* m) {
    const char* const subject = natsMsg_GetSubject(m);
    const auto said = nats::read_subject(subject);
    if (!said) return;
    const std::string sender = said->from.text();
    const auto apart = nats::apart_from(l.of.own_.site, sender);
    if (!apart) return;
    l.of.meet(l, *apart);
    natsConnection_Publish(l.down.get(), subject, natsMsg_GetData(m), natsMsg_GetDataLength(m));
  }
  // Passes a message from this site, or from one below it, to others.
  static void pass_up(life& l, natsMsg* m) {
    natsConnection_Publish(l.up.get(), natsMsg_GetSubject(m), natsMsg_GetData(m),
                           natsMsg_GetDataLength(m));
  }

  // Notes that others were heard, whose names begin so. What is said to them goes upwards from then
  // on: before that nobody knows of anybody there. What is said within this site, and to those
  // below it, does not come by.
  void meet(life& l, const std::string& others) {
    {
      const std::lock_guard lock(l.mutex);
      if (heard_.size() >= most_heard || !heard_.insert(others).second) return;
    }
    try {
      listen_for(l, others);
    } catch (const failure& e) { events_.say_once(fmt::format("bridge: {}", e.what())); }
  }

  // No two of these patterns have a subject in common.
  void listen_for(life& l, const std::string& others) {
    listen(l, l.down.get(), nats::pattern_to(others, own_.site), pass_up);
  }

  // Joins the sites for ever. What goes wrong is said once, until they are joined again.
  void keep() {
    bool said = false, said_refused = false;
    auto pause = first_pause;
    const auto once = [this](bool& flag, const std::string& line) {
      if (!std::exchange(flag, true)) events_.say(line + "; trying again");
    };
    for (;;) {
      try {
        live();
        said = said_refused = false, pause = first_pause;
        const std::lock_guard lock(events_.mutex);
        if (events_.ending) return;
        once(said, "the relay above is lost; this site works on by itself");
      } catch (const nats::key_refused& e) {
        once(said_refused, e.what());
      } catch (const failure& e) { once(said, e.what()); }
      std::unique_lock lock(events_.mutex);
      if (events_.changed.wait_for(lock, pause, [&] { return events_.ending; })) return;
      pause = std::min(2 * pause, longest_pause);
    }
  }

  // Joins the sites until one of the connections ends.
  void live() {
    life l(*this);
    l.up = connect(upstream_, "the relay above");
    l.down = connect(own_, "this relay's own server");
    listen(l, l.down.get(), nats::pattern_to_all(own_.site), pass_up);
    for (const std::string& others : heard_) listen_for(l, others);
    listen(l, l.up.get(), nats::pattern_to(own_.site, ""), pass_down);
    listen(l, l.up.get(), nats::pattern_to_all(""), pass_down);
    l.up_pulse.emplace(l.up.get(), ping_every), l.down_pulse.emplace(l.down.get(), ping_every);
    if (!l.up_pulse->flush(answer_within)) throw failure("the relay above: it does not answer");
    const char* text = nullptr;
    if (natsConnection_GetLastError(l.up.get(), &text) == NATS_NOT_PERMITTED)
      throw failure(fmt::format("the relay above does not allow what {} needs: {}",
                                nats::owner_of(upstream_), text));
    char url[256];
    const bool known = natsConnection_GetConnectedUrl(l.up.get(), url, sizeof url) == NATS_OK;
    events_.say(fmt::format("joined {}", known ? url : upstream_.urls.front()));
    std::unique_lock lock(events_.mutex);
    while (!events_.ending && l.is_whole()) events_.changed.wait_for(lock, ping_every);
  }

  const access upstream_, own_;
  events& events_;
  // The beginnings of others' names. Guarded by the mutex of the life that there is.
  std::set<std::string> heard_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<bridge> make_bridge(access upstream, access own,
                                    std::function<void(const std::string&)> say) {
  return std::make_unique<nats_bridge>(std::move(upstream), std::move(own), std::move(say));
}

}  // namespace relay
