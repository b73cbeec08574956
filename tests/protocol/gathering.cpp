// Gathered variables between many nodes: whatever a network does to messages, every replica gets
// all updates in the order of the home, each once.
#include "protocol/gathering.hpp"

#include "protocol/idle_core.hpp"
#include "protocol/node.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/strategy.hpp"
#include "sanitized.hpp"

namespace {

using namespace cleave::net;

constexpr std::uint64_t few = cleave::tests::sanitized ? 5 : 15;

/// Who made an update, and which of that node's it is, from 1 on.
using update = std::pair<address, std::uint64_t>;
using history = std::vector<update>;

bytes as_bytes(const history& h) {
  bytes b;
  for (const auto& [who, number] : h)
    b.insert(b.end(), {static_cast<std::byte>(who), static_cast<std::byte>(number >> 8),
                       static_cast<std::byte>(number)});
  return b;
}
history from_bytes(const bytes& b) {
  history h;
  for (std::size_t i = 0; i + 2 < b.size(); i += 3)
    h.emplace_back(static_cast<address>(b[i]), static_cast<std::uint64_t>(b[i + 1]) << 8 |
                                                   static_cast<std::uint64_t>(b[i + 2]));
  return h;
}

/// The variables of one node: all that was done to them.
struct recorded final : gathered_port {
  bool has(const gathered_name& n) const override { return all.count(n) != 0; }
  void arrived(const gathered_name& n, std::uint64_t version,
               const std::vector<ordered_update>& updates) override {
    if (updates.empty()) return void(changed[n] = version);
    history& h = all.at(n);
    for (const ordered_update& u : updates) h.push_back(from_bytes(u.update).front());
    EXPECT_EQ(h.size(), version);
    EXPECT_EQ(absent.count(n), 0U);
  }
  std::optional<gathered_state> here(const gathered_name& n) const override {
    if (++asked % 3 == 0) return std::nullopt;  // somebody reads it
    return gathered_state{as_bytes(all.at(n)), 0};
  }
  void replaced(const gathered_name& n, const gathered_value& m,
                const std::vector<bytes>& own) override {
    absent.erase(n);
    all.at(n) = from_bytes(m.value);
    // What is in the value of this node's, and what is not, is all that it has made.
    const auto mine = static_cast<std::uint64_t>(
        std::count_if(all.at(n).begin(), all.at(n).end(),
                      [&](const update& u) { return u.first == self && u.second > made_before; }));
    EXPECT_EQ(mine + own.size(), made[n]);
  }
  void taken(const gathered_name& n, std::uint64_t, std::uint64_t number) override {
    EXPECT_LE(number, made[n]);
  }
  void gone(const gathered_name& n) override { lost.push_back(n); }

  address self = 0;
  std::uint64_t made_before = 0;  // by earlier processes at this address
  std::map<gathered_name, history> all;
  std::map<gathered_name, std::uint64_t> made;
  std::map<gathered_name, std::uint64_t> changed;  // the version of a value that changed otherwise
  std::vector<gathered_name> lost;
  std::set<gathered_name> absent;
  mutable int asked = 0;
};

struct weather {
  double loss = 0, duplication = 0;
  std::int64_t jitter = 0;  ///< microseconds
};

const gathered_name everywhere{0, 77};  // its home is node 0
const gathered_name of_third{3, 5};     // node 2 has made it

class nodes_that_update {
public:
  static constexpr instant latency{100};

  nodes_that_update(std::size_t count, settings how, weather w, std::uint64_t seed)
      : how_(how), weather_(w), random_(seed) {
    for (std::size_t i = 0; i < count; ++i) places_.push_back(std::make_unique<place>(*this, i));
  }

  void start(std::size_t who, instant at = {}) { push(at, who, what::start); }
  void kill(std::size_t who, instant at) { push(at, who, what::die); }
  /// The node makes an update of the variable.
  void update_at(std::size_t who, instant at, const gathered_name& name) {
    push(at, who, what::make, 0, {}, name);
  }
  /// The node has no use for the variable any more, and then one again.
  void forget_at(std::size_t who, instant at, const gathered_name& name) {
    push(at, who, what::forget, 0, {}, name);
  }
  void run(instant limit) {
    while (!events_.empty() && events_.top().at <= limit) {
      event e = events_.top();
      events_.pop();
      now_ = e.at;
      happen(e);
    }
  }

  const history& of(std::size_t who, const gathered_name& name) const {
    return places_[who]->variables.all.at(name);
  }
  bool is_alive(std::size_t who) const { return places_[who]->n != nullptr; }
  const recorded& at(std::size_t who) const { return places_[who]->variables; }
  std::uint64_t made(std::size_t who) const { return places_[who]->last; }
  const node& protocol(std::size_t who) const { return *places_[who]->n; }
  std::uint64_t sent = 0;  ///< messages of updates

private:
  enum class what { start, die, make, forget, message, tick };
  struct event {
    instant at;
    std::uint64_t number;
    std::size_t who;
    what kind;
    address from;
    message m;
    gathered_name name;
    bool operator<(const event& b) const {
      return std::pair(at, number) > std::pair(b.at, b.number);
    }
  };
  struct place final : network_port {
    place(nodes_that_update& w, std::size_t n_) : world(w), number(n_) {}
    void send(address to, message m) override { world.send(number, to, std::move(m)); }
    void say(const std::string&) override {}
    nodes_that_update& world;
    std::size_t number;
    idle_core core;
    recorded variables;
    std::unique_ptr<node> n;
    std::uint64_t last = 0;  // update that was made at this address
    std::uint64_t lives = 0;
    instant tick_at = instant::max();
  };

  bool chance(double p) { return static_cast<double>(random_.next() >> 11) * 0x1p-53 < p; }
  void push(instant at, std::size_t who, what kind, address from = 0, message m = {},
            gathered_name name = {}) {
    events_.push({at, ++last_event_, who, kind, from, std::move(m), name});
  }
  void send(std::size_t from, address to, const message& m) {
    if (std::holds_alternative<gathered_updates>(m.body) ||
        std::holds_alternative<gathered_news>(m.body))
      ++sent;
    for (int copies = chance(weather_.duplication) ? 2 : 1; copies > 0; --copies) {
      if (chance(weather_.loss)) continue;
      const instant late(weather_.jitter == 0 ? 0
                                              : static_cast<std::int64_t>(random_.below(
                                                    static_cast<std::size_t>(weather_.jitter))));
      push(now_ + latency + late, to, what::message, from, m);
    }
  }
  void happen(event& e) {
    place& p = *places_[e.who];
    if (e.kind == what::start) return begin(p);
    if (p.n == nullptr) return;
    switch (e.kind) {
      case what::die: p.n = nullptr; return;
      case what::make: {
        if (p.variables.absent.count(e.name) != 0) return;  // it would wait
        ++p.variables.made[e.name];
        p.n->updated(now_, e.name, {as_bytes({{p.number, ++p.last}})});
        break;
      }
      case what::forget:
        p.variables.all.erase(e.name);
        p.n->forget_unused();
        p.variables.all[e.name];
        p.variables.absent.insert(e.name);
        p.n->wanted(now_, e.name, true, 0);
        break;
      case what::message: p.n->receive(now_, e.from, e.m); break;
      case what::tick:
        if (p.tick_at != e.at) return;
        p.tick_at = instant::max();
        p.n->tick(now_);
        break;
      default: break;
    }
    const instant next = std::max(p.n->next(), now_ + instant(1));
    if (next < p.tick_at) push(p.tick_at = next, p.number, what::tick);
  }
  void begin(place& p) {
    ++p.lives;
    p.variables = {};
    p.variables.self = p.number, p.variables.made_before = p.last;
    p.n = std::make_unique<node>(identity{p.number, 100 * (p.number + 1) + p.lives, 5}, how_,
                                 p.core, p.variables, p);
    p.variables.all[everywhere];
    p.variables.all[of_third];
    for (const auto& other : places_) {
      if (other.get() == &p || other->n == nullptr) continue;
      p.n->peer_found(now_, other->number, distance::same_site, 0);
      other->n->peer_found(now_, p.number, distance::same_site, 0);
    }
    if (p.number != 2) p.variables.absent.insert(of_third), p.n->wanted(now_, of_third, true, 0);
    push(p.tick_at = now_ + instant(1), p.number, what::tick);
  }

  const settings how_;
  const weather weather_;
  random_numbers random_;
  instant now_{};
  std::uint64_t last_event_ = 0;
  std::vector<std::unique_ptr<place>> places_;
  std::priority_queue<event> events_;
};

/// Whether all nodes that live have what the home has, and that is what was made: each update once,
/// those of a node in order; of a process that died perhaps only the first ones.
std::string fault(const nodes_that_update& w, std::size_t count, const gathered_name& name,
                  std::size_t home) {
  const history& order = w.of(home, name);
  for (std::size_t i = 0; i < count; ++i)
    if (w.is_alive(i) && w.of(i, name) != order)
      return "node " + std::to_string(i) + " has " + std::to_string(w.of(i, name).size()) + " of " +
             std::to_string(order.size());
  std::map<address, std::uint64_t> last;
  std::map<address, std::uint64_t> of_this_life;
  for (const auto& [who, number] : order) {
    if (number <= last[who]) return "update twice, or out of order";
    last[who] = number;
    if (number > w.at(who).made_before) ++of_this_life[who];
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto made = w.at(i).made.find(name);
    if (!w.is_alive(i) || made == w.at(i).made.end()) continue;
    if (of_this_life[i] != made->second)
      return "node " + std::to_string(i) + " has made " + std::to_string(made->second) + ", " +
             std::to_string(of_this_life[i]) + " are there";
  }
  return {};
}

/// Some seconds in which nodes update, die, come and come again.
std::string after(std::uint64_t seed, mutation planted = mutation::none) {
  random_numbers r(seed);
  const std::size_t count = 3 + r.below(6);
  settings how;
  how.planted = planted;
  how.gathered_log = r.below(2) == 0 ? 60 : 1 << 20;
  how.small_bytes = r.below(2) == 0 ? 30 : 65'536;
  weather weathers[] = {{}, {0.1, 0, 0}, {0, 0.2, 3'000}, {0.2, 0.2, 5'000}};
  nodes_that_update w(count, how, weathers[r.below(4)], seed);
  w.start(0), w.start(1), w.start(2);
  for (std::size_t i = 3; i < count; ++i) {
    w.start(i, instant(r.below(3) == 0 ? r.below(2'000'000) : 0));
    if (r.below(3) != 0) continue;
    const instant at(500'000 + r.below(1'500'000));
    w.kill(i, at);
    if (r.below(2) == 0) w.start(i, at + instant(1'000 + r.below(500'000)));
  }
  for (std::size_t n = 20 + r.below(200); n > 0; --n) {
    const std::size_t who = r.below(count);  // one after the other: the order of calls is the same
    const instant at(r.below(3'000'000));
    w.update_at(who, at, r.below(3) == 0 ? of_third : everywhere);
  }
  for (std::size_t n = r.below(10); n > 0; --n) {
    const std::size_t who = 3 + r.below(count - 3 + 1);
    if (who < count) w.forget_at(who, instant(r.below(3'000'000)), of_third);
  }
  w.run(instant(60'000'000));
  std::string wrong = fault(w, count, everywhere, 0);
  if (wrong.empty()) wrong = fault(w, count, of_third, 2);
  for (std::size_t i = 0; i < count && wrong.empty(); ++i)
    if (w.is_alive(i) && !w.protocol(i).gathered().has_taken(w.protocol(i).gathered().made()))
      wrong = "node " + std::to_string(i) + " waits for its home";
  return wrong;
}

TEST(gathering, nothing_is_lost_and_nothing_comes_twice) {
  for (std::uint64_t seed = 1; seed <= 4 * few; ++seed)
    EXPECT_EQ(after(seed), "") << "seed " << seed;
}

TEST(gathering, broken_rules_are_found) {
  for (const mutation rule :
       {mutation::forget_updates, mutation::take_updates_twice, mutation::pass_over_gap}) {
    int found = 0;
    testing::TestPartResultArray ignored;
    {
      testing::ScopedFakeTestPartResultReporter instead(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &ignored);
      for (std::uint64_t seed = 1; seed <= 2 * few; ++seed)
        found += after(seed, rule) != "" ? 1 : 0;
    }
    EXPECT_GT(found + ignored.size(), 0) << static_cast<int>(rule);
  }
}

struct silent_network final : network_port {
  void send(address, message) override {}
  void say(const std::string&) override {}
};

// A value and a receipt may overtake each other.
TEST(gathering, value_from_before_a_receipt_lacks_what_was_taken_since) {
  idle_core core;
  silent_network network;
  recorded variables;
  variables.self = 1;
  variables.all[everywhere];
  node n({1, 11, 5}, {}, core, variables, network);
  const auto hear = [&](message_body body) {
    n.receive(instant(1'000), 0, {5, 100, 11, std::move(body)});
  };
  n.peer_found(instant(0), 0, distance::same_site, 0);
  hear(gathered_news{everywhere, 1, 1, {{0, 1, as_bytes({{0, 1}})}}});
  ++variables.made[everywhere];
  n.updated(instant(500), everywhere, {as_bytes({{1, 1}})});
  hear(gathered_receipt{everywhere, 1, 5});
  EXPECT_TRUE(n.gathered().has_taken(1));
  hear(gathered_value{everywhere, 3, 0, 0, as_bytes({{0, 1}, {2, 1}, {0, 2}})});  // tells of own
  hear(gathered_news{everywhere, 1, 4, {{0, 3, as_bytes({{0, 3}})}, {1, 1, as_bytes({{1, 1}})}}});
  EXPECT_EQ(variables.all[everywhere], (history{{0, 1}, {2, 1}, {0, 2}, {0, 3}, {1, 1}}));
  hear(gathered_value{everywhere, 6, 0, 1,
                      as_bytes({{0, 1}, {2, 1}, {0, 2}, {0, 3}, {1, 1}, {0, 4}})});
  EXPECT_EQ(variables.all[everywhere].size(), 6U);
}

// Tasks carry the version, so that whoever gets one reads the value that was there before the job.
TEST(gathering, value_that_changed_otherwise_has_a_version_of_its_own) {
  idle_core core;
  silent_network network;
  recorded variables;
  variables.all[everywhere];
  node n({0, 11, 5}, {}, core, variables, network);
  n.updated(instant(500), everywhere, {});
  EXPECT_EQ(variables.changed[everywhere], 1U);
}

TEST(gathering, update_costs_a_message_for_each_node) {
  nodes_that_update w(16, {}, {}, 1);
  for (std::size_t i = 0; i < 16; ++i) w.start(i);
  w.run(instant(1'000'000));
  w.sent = 0;
  w.update_at(5, instant(1'500'000), everywhere);
  w.update_at(0, instant(1'600'000), everywhere);
  w.run(instant(1'700'000));
  EXPECT_EQ(w.sent, 1U + 15U + 15U);
}

TEST(gathering, home_that_is_gone_is_told_of) {
  nodes_that_update w(4, {}, {}, 1);
  for (std::size_t i = 0; i < 4; ++i) w.start(i);
  w.run(instant(500'000));
  w.kill(2, instant(600'000));
  w.update_at(1, instant(700'000), of_third);
  w.run(instant(60'000'000));
  EXPECT_FALSE(w.at(1).lost.empty());
  EXPECT_TRUE(w.protocol(1).gathered().has_taken(1));
}

}  // namespace
