#include "node/nodes/loopback.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "core/pool.hpp"
#include "node/driver.hpp"
#include "node/other_nodes.hpp"

namespace cleave::tests {

using clock = std::chrono::steady_clock;

/// What all nodes share: each of them has one end.
struct loopback::network {
  struct end {
    std::multimap<clock::time_point, net::incoming> letters;
    std::map<net::address, clock::time_point> last;
    std::vector<net::address> lost, found;
    std::condition_variable changed;
    bool rung = false, dead = false, open = false, watched = false;
  };

  network(unsigned nodes, weather w) : how(w), ends(nodes) {}
  /// Puts a node on that list of all others.
  void tell_others(net::address who, std::vector<net::address> end::*list) {
    for (net::address i = 0; i < ends.size(); ++i) {
      if (i == who) continue;
      (ends[i].*list).push_back(who);
      ends[i].changed.notify_all();
    }
  }

  std::mutex mutex;
  const weather how;
  std::vector<end> ends;
  bool held = false;
};

namespace {

using end = loopback::network::end;

class endpoint final : public net::transport {
public:
  endpoint(loopback::network& of, net::address self)
      : of_(of), self_(self), random_(of.how.seed * 977 + static_cast<unsigned>(self)) {
    std::lock_guard lock(of_.mutex);
    mine().open = true;
  }
  ~endpoint() override {
    std::lock_guard lock(of_.mutex);
    mine().open = false;
    mine().letters.clear();
  }
  net::address self() const noexcept override { return self_; }
  std::vector<net::address> peers() const override {
    std::lock_guard lock(of_.mutex);
    std::vector<net::address> all;
    for (net::address i = 0; i < of_.ends.size(); ++i)
      if (i != self_ && !of_.ends[i].dead) all.push_back(i);
    return all;
  }
  net::distance how_far(net::address) const noexcept override { return net::distance::same_host; }

  std::size_t longest_message() const noexcept override { return of_.how.longest; }
  void send(net::address to, net::bytes message) override {
    std::lock_guard lock(of_.mutex);
    ++counted_.sent, counted_.sent_bytes += message.size();
    end& e = of_.ends[to];
    const bool too_long = message.size() > of_.how.longest;
    if (mine().dead || e.dead || too_long || chance(of_.how.loss)) return;
    clock::time_point due = std::max(clock::now() + some_delay(), e.last[self_]);
    e.last[self_] = due;
    if (chance(of_.how.twice)) e.letters.insert({due + some_delay(), {self_, message}});
    e.letters.insert({due, {self_, std::move(message)}});
    e.changed.notify_all();
  }
  std::optional<net::incoming> receive() override {
    std::lock_guard lock(of_.mutex);
    end& e = mine();
    if (of_.held || e.letters.empty() || e.letters.begin()->first > clock::now()) return {};
    net::incoming found = std::move(e.letters.begin()->second);
    e.letters.erase(e.letters.begin());
    if (e.dead) return {};
    ++counted_.received, counted_.received_bytes += found.message.size();
    return found;
  }
  std::optional<net::address> lost() override { return take(mine().lost); }
  std::optional<net::address> found() override { return take(mine().found); }
  void wait(microseconds at_most) override {
    std::unique_lock lock(of_.mutex);
    end& e = mine();
    const auto until = clock::now() + at_most;
    while (e.watched || (!std::exchange(e.rung, false) && e.lost.empty() && e.found.empty())) {
      auto next = until;
      if (!e.watched && !of_.held && !e.letters.empty())
        next = std::min(next, e.letters.begin()->first);
      if (clock::now() >= next) return;
      e.changed.wait_until(lock, next);
    }
  }
  void ring() noexcept override {
    std::lock_guard lock(of_.mutex);
    mine().rung = true;
    mine().changed.notify_all();
  }
  bool begin_watch() noexcept override {
    std::lock_guard lock(of_.mutex);
    return mine().watched = of_.how.workers_send;
  }
  bool look() noexcept override {
    std::lock_guard lock(of_.mutex);
    end& e = mine();
    e.watched = true;
    const bool due = !of_.held && !e.letters.empty() && e.letters.begin()->first <= clock::now();
    return due || std::exchange(e.rung, false) || !e.lost.empty() || !e.found.empty();
  }
  void end_watch() noexcept override {
    std::lock_guard lock(of_.mutex);
    mine().watched = false;
    mine().changed.notify_all();
  }
  bool sends_from_any_thread() const noexcept override { return of_.how.workers_send; }
  net::traffic counted() const noexcept override {
    std::lock_guard lock(of_.mutex);
    return counted_;
  }

private:
  end& mine() const { return of_.ends[self_]; }
  std::optional<net::address> take(std::vector<net::address>& list) {
    std::lock_guard lock(of_.mutex);
    if (list.empty()) return {};
    const net::address who = list.back();
    list.pop_back();
    return who;
  }
  bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(random_) < p; }
  microseconds some_delay() {
    if (of_.how.delay.count() == 0) return {};
    return microseconds(std::uniform_int_distribution<long>(0, of_.how.delay.count())(random_));
  }

  loopback::network& of_;
  const net::address self_;
  std::minstd_rand random_;
  net::traffic counted_;
};

}  // namespace

loopback::loopback(unsigned nodes, weather w) : all_(std::make_unique<network>(nodes, w)) {}
loopback::~loopback() = default;

std::unique_ptr<net::transport> loopback::open(net::address self) {
  return std::make_unique<endpoint>(*all_, self);
}

void loopback::kill(net::address who, bool told) {
  std::lock_guard lock(all_->mutex);
  all_->ends[who].dead = true;
  if (told) all_->tell_others(who, &network::end::lost);
}

void loopback::join(net::address who) {
  std::lock_guard lock(all_->mutex);
  all_->ends[who].dead = false;
  all_->tell_others(who, &network::end::found);
}

void loopback::hold(bool held) {
  std::lock_guard lock(all_->mutex);
  all_->held = held;
  for (network::end& e : all_->ends) e.changed.notify_all();
}

net::settings quick() {
  net::settings s;
  s.give_up_after = net::instant{20'000}, s.forget_after = net::instant{1'000'000};
  s.heartbeat_every = net::instant{10'000}, s.lost_after = net::instant{300'000};
  s.resend_after = net::instant{5'000}, s.ask_again_at_most = net::instant{2'000};
  s.nothing_for = net::instant{2'000}, s.idle_for = net::instant{20'000};
  return s;
}

test_node::test_node(loopback& by, net::address self, unsigned workers, const net::settings& how)
    : link_(net::driver::open([&by, self] { return by.open(self); }, how)) {
  detail::pool::settings of_pool;
  of_pool.workers = workers, of_pool.stack_bytes = std::size_t{16} << 20, of_pool.cpus = 2;
  of_pool.cutoff = false, of_pool.guests = self == 0;
  of_pool.others = net::other_nodes::maker(link_->bell());
  pool_ = std::make_unique<detail::pool>(of_pool, nullptr);
  link_->attach(net::other_nodes::of(*pool_));
}

test_node::~test_node() {
  link_->stop();
  pool_.reset();
}

net::traffic test_node::carried() const { return link_->counted().carried; }

void test_node::run_root(detail::task& root) { pool_->run(root); }

bool test_node::run_team(const detail::wire_type& type, detail::task& input, detail::task& root) {
  return link_->run_team(type, input, root, [&] { pool_->run(root); });
}

job::job(unsigned count, unsigned workers, weather w, const net::settings& how)
    : network(count, w) {
  for (net::address i = 0; i < count; ++i)
    nodes.push_back(std::make_unique<test_node>(network, i, workers, how));
}

job::~job() {
  for (auto& n : nodes) n.reset();
}

std::uint64_t job::crossed() { return root().link().counted().tasks_out; }

}  // namespace cleave::tests
