#pragma once

#include "node/driver.hpp"
#include "transport/transport.hpp"

#include "core/pool.hpp"
#include "node/other_nodes.hpp"

#include <cleave/runtime.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

/// Several nodes in one process: each with a pool and a driver of its own, and a network between.
namespace cleave::tests {

using std::chrono::microseconds;

/// What a network does to messages, in this or that way by its seed.
struct weather {
  unsigned seed = 1;
  microseconds delay{0};  // at most
  double loss = 0, twice = 0;
  bool workers_send = true;                                       // not only the driver's thread
  std::size_t longest = std::numeric_limits<std::size_t>::max();  // message
};

/// Messages between two nodes keep their order; but one that comes twice comes later again.
class loopback {
  using clock = std::chrono::steady_clock;

public:
  loopback(unsigned nodes, weather w) : weather_(w), ends_(nodes) {}

  std::unique_ptr<net::transport> open(net::address self) {
    return std::make_unique<endpoint>(*this, self);
  }
  /// From now on nothing comes from it and nothing reaches it; the others are told, or not.
  void kill(net::address who, bool told) {
    std::lock_guard lock(mutex_);
    ends_[who].dead = true;
    for (net::address i = 0; told && i < ends_.size(); ++i) {
      if (i == who) continue;
      ends_[i].lost.push_back(who);
      ends_[i].changed.notify_all();
    }
  }
  /// It was not there, or is to be another process than the one that is gone; the others find it.
  void join(net::address who) {
    std::lock_guard lock(mutex_);
    ends_[who].dead = false;
    for (net::address i = 0; i < ends_.size(); ++i) {
      if (i == who) continue;
      ends_[i].found.push_back(who);
      ends_[i].changed.notify_all();
    }
  }
  /// While it is held nothing arrives anywhere.
  void hold(bool held) {
    std::lock_guard lock(mutex_);
    held_ = held;
    for (end& e : ends_) e.changed.notify_all();
  }

private:
  struct end {
    std::multimap<clock::time_point, net::incoming> letters;
    std::map<net::address, clock::time_point> last;
    std::vector<net::address> lost, found;
    std::condition_variable changed;
    bool rung = false, dead = false, open = false, watched = false;
  };

  class endpoint final : public net::transport {
  public:
    endpoint(loopback& of, net::address self)
        : of_(of), self_(self), random_(of.weather_.seed * 977 + static_cast<unsigned>(self)) {
      std::lock_guard lock(of_.mutex_);
      mine().open = true;
    }
    ~endpoint() override {
      std::lock_guard lock(of_.mutex_);
      mine().open = false;
      mine().letters.clear();
    }
    net::address self() const noexcept override { return self_; }
    std::vector<net::address> peers() const override {
      std::lock_guard lock(of_.mutex_);
      std::vector<net::address> all;
      for (net::address i = 0; i < of_.ends_.size(); ++i)
        if (i != self_ && !of_.ends_[i].dead) all.push_back(i);
      return all;
    }
    net::distance how_far(net::address) const noexcept override { return net::distance::same_host; }

    std::size_t longest_message() const noexcept override { return of_.weather_.longest; }
    void send(net::address to, net::bytes message) override {
      std::lock_guard lock(of_.mutex_);
      ++counted_.sent, counted_.sent_bytes += message.size();
      end& e = of_.ends_[to];
      const bool too_long = message.size() > of_.weather_.longest;
      if (mine().dead || e.dead || too_long || chance(of_.weather_.loss)) return;
      clock::time_point due = std::max(clock::now() + some_delay(), e.last[self_]);
      e.last[self_] = due;
      if (chance(of_.weather_.twice)) e.letters.insert({due + some_delay(), {self_, message}});
      e.letters.insert({due, {self_, std::move(message)}});
      e.changed.notify_all();
    }
    std::optional<net::incoming> receive() override {
      std::lock_guard lock(of_.mutex_);
      end& e = mine();
      if (of_.held_ || e.letters.empty() || e.letters.begin()->first > clock::now()) return {};
      net::incoming found = std::move(e.letters.begin()->second);
      e.letters.erase(e.letters.begin());
      if (e.dead) return {};
      ++counted_.received, counted_.received_bytes += found.message.size();
      return found;
    }
    std::optional<net::address> lost() override {
      std::lock_guard lock(of_.mutex_);
      if (mine().lost.empty()) return {};
      const net::address who = mine().lost.back();
      mine().lost.pop_back();
      return who;
    }
    std::optional<net::address> found() override {
      std::lock_guard lock(of_.mutex_);
      if (mine().found.empty()) return {};
      const net::address who = mine().found.back();
      mine().found.pop_back();
      return who;
    }
    void wait(microseconds at_most) override {
      std::unique_lock lock(of_.mutex_);
      end& e = mine();
      const auto until = clock::now() + at_most;
      while (e.watched || (!std::exchange(e.rung, false) && e.lost.empty() && e.found.empty())) {
        auto next = until;
        if (!e.watched && !of_.held_ && !e.letters.empty())
          next = std::min(next, e.letters.begin()->first);
        if (clock::now() >= next) return;
        e.changed.wait_until(lock, next);
      }
    }
    void ring() noexcept override {
      std::lock_guard lock(of_.mutex_);
      mine().rung = true;
      mine().changed.notify_all();
    }
    bool begin_watch() noexcept override {
      std::lock_guard lock(of_.mutex_);
      return mine().watched = of_.weather_.workers_send;
    }
    bool look() noexcept override {
      std::lock_guard lock(of_.mutex_);
      end& e = mine();
      e.watched = true;
      const bool due = !of_.held_ && !e.letters.empty() && e.letters.begin()->first <= clock::now();
      return due || std::exchange(e.rung, false) || !e.lost.empty() || !e.found.empty();
    }
    void end_watch() noexcept override {
      std::lock_guard lock(of_.mutex_);
      mine().watched = false;
      mine().changed.notify_all();
    }
    bool sends_from_any_thread() const noexcept override { return of_.weather_.workers_send; }
    net::traffic counted() const noexcept override {
      std::lock_guard lock(of_.mutex_);
      return counted_;
    }

  private:
    end& mine() const { return of_.ends_[self_]; }
    bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(random_) < p; }
    microseconds some_delay() {
      if (of_.weather_.delay.count() == 0) return {};
      return microseconds(
          std::uniform_int_distribution<long>(0, of_.weather_.delay.count())(random_));
    }

    loopback& of_;
    const net::address self_;
    std::minstd_rand random_;
    net::traffic counted_;
  };

  std::mutex mutex_;
  const weather weather_;
  std::vector<end> ends_;
  bool held_ = false;
};

/// Times for a network in which a message takes microseconds.
inline net::settings quick() {
  net::settings s;
  s.give_up_after = net::instant{20'000}, s.forget_after = net::instant{1'000'000};
  s.heartbeat_every = net::instant{10'000}, s.lost_after = net::instant{300'000};
  s.resend_after = net::instant{5'000}, s.ask_again_at_most = net::instant{2'000};
  s.nothing_for = net::instant{2'000}, s.idle_for = net::instant{20'000};
  return s;
}

/// What runtime::state is in a process.
class test_node {
public:
  test_node(loopback& by, net::address self, unsigned workers, const net::settings& how = quick())
      : link_(net::driver::open([&by, self] { return by.open(self); }, how)) {
    detail::pool::settings of_pool;
    of_pool.workers = workers, of_pool.stack_bytes = std::size_t{16} << 20, of_pool.cpus = 2;
    of_pool.cutoff = false, of_pool.guests = self == 0;
    of_pool.others = net::other_nodes::maker(link_->bell());
    pool_ = std::make_unique<detail::pool>(of_pool, nullptr);
    link_->attach(net::other_nodes::of(*pool_));
  }
  ~test_node() {
    link_->stop();
    pool_.reset();
  }
  test_node(const test_node&) = delete;
  test_node& operator=(const test_node&) = delete;

  template <class F>
  auto run(F f) {
    detail::task_of<detail::closure_task<F>> root([&f] { return detail::closure_task<F>{f}; });
    pool_->run(root);
    if (root.error) std::rethrow_exception(root.error);
    return std::move(*root.result);
  }
  /// runtime::run_on_all.
  template <team_task Work>
  auto run_on_all(Work work) {
    return detail::run_by_team(work, [this](detail::task& root, detail::task& input) {
      return link_->run_team(*detail::wire_of<detail::team_part<Work>>(), input, root,
                             [&] { pool_->run(root); });
    });
  }
  detail::pool* pool() const noexcept { return pool_.get(); }
  net::driver& link() noexcept { return *link_; }

private:
  std::unique_ptr<net::driver> link_;
  std::unique_ptr<detail::pool> pool_;
};

/// The first node has the root.
struct job {
  job(unsigned count, unsigned workers, weather w = {}, const net::settings& how = quick())
      : network(count, w) {
    for (net::address i = 0; i < count; ++i)
      nodes.push_back(std::make_unique<test_node>(network, i, workers, how));
  }
  ~job() {
    for (auto& n : nodes) n.reset();
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  test_node& root() { return *nodes.front(); }
  std::uint64_t crossed() { return root().link().counted().tasks_out; }

  loopback network;
  std::vector<std::unique_ptr<test_node>> nodes;
};

}  // namespace cleave::tests
