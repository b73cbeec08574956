// Published data between many nodes: what comes is what was published, however messages go and
// whoever dies, along a tree that is hardly slower for a thousand nodes than for one.
#include "protocol/publications.hpp"

#include "protocol/idle_core.hpp"
#include "sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "protocol/strategy.hpp"

namespace {

using namespace cleave::net;

constexpr std::uint64_t some_seeds = cleave::tests::sanitized ? 6 : 20;

bytes datum(std::size_t size) {
  bytes contents(size);
  random_numbers random(size);
  for (std::byte& b : contents) b = static_cast<std::byte>(random.next() >> 56);
  return contents;
}

/// What a network does to messages.
struct weather {
  double loss = 0, duplication = 0;
  std::int64_t jitter = 0;  ///< microseconds
};

/// Nodes of which number 0 publishes. Bytes of data take their time on the way out of a node; other
/// messages take the latency only, since sizes here are a thousandth of what they stand for.
class nodes_that_fetch {
public:
  static constexpr instant latency{100}, far_latency{5'000};
  static constexpr double bytes_in_microsecond = 0.125;  // a gigabit in a second, in thousandths

  nodes_that_fetch(std::size_t count, std::size_t size, settings how, weather w = {},
                   std::uint64_t seed = 1, std::size_t sites = 1)
      : contents(datum(size)), weather_(w), random_(seed), sites_(sites) {
    for (std::size_t i = 0; i < count; ++i)
      places_.push_back(std::make_unique<place>(*this, i, how));
    for (std::size_t i = 1; i < count; ++i) {
      places_[i]->peers.found(0, far_from(0, i), site(0));
      places_[0]->peers.found(i, far_from(0, i), site(i));
    }
  }

  void fetch(std::size_t who, instant at = {}) { push(at, who, what::begin); }
  void kill(std::size_t who, instant at) { push(at, who, what::die); }
  /// Runs until nothing happens any more, or the limit.
  void run(instant limit) {
    while (!events_.empty() && events_.top().at <= limit) {
      const event e = events_.top();
      events_.pop();
      now = e.at;
      happen(e);
    }
  }

  bool has(std::size_t who) const { return places_[who]->got == contents; }
  bool failed(std::size_t who) const { return places_[who]->ended && !places_[who]->got; }
  std::size_t that_have() const {
    std::size_t n = 0;
    for (std::size_t i = 1; i < places_.size(); ++i) n += has(i) ? 1U : 0U;
    return n;
  }
  /// When the last one had it.
  instant last() const {
    instant at{};
    for (const auto& p : places_) at = std::max(at, p->got_at);
    return at;
  }

  const bytes contents;
  instant now{};
  std::map<std::size_t, std::size_t> bytes_from;       ///< data that a node has sent
  std::map<std::size_t, std::set<address>> read_from;  ///< whom a node has sent data to
  std::size_t between_sites = 0;                       ///< bytes of data

private:
  enum class what { begin, die, message, tick };
  struct event {
    instant at;
    std::uint64_t number;
    std::size_t who;
    what kind;
    address from;
    message m;
    bool operator<(const event& b) const {
      return std::pair(at, number) > std::pair(b.at, b.number);
    }
  };
  struct place final : idle_core, network_port {
    place(nodes_that_fetch& w, std::size_t n, const settings& how)
        : world(w),
          number(n),
          all{{n, n + 1, 5}, how, *this, nothing, *this},
          peers(all),
          published_data(all, peers) {}
    std::optional<bytes> publication(std::uint64_t id) const override {
      return number == 0 && id == 7 ? std::optional(world.contents) : std::nullopt;
    }
    void fetched(address, std::uint64_t, std::optional<bytes> b) override {
      EXPECT_FALSE(ended) << "data come twice";
      ended = true;
      got = std::move(b);
      got_at = world.now;
    }
    void send(address to, message m) override { world.send(number, to, std::move(m)); }
    void say(const std::string&) override {}

    nodes_that_fetch& world;
    std::size_t number;
    no_gathered nothing;
    surroundings all;
    neighbours peers;
    publications published_data;
    bool alive = true, ended = false;
    std::optional<bytes> got;
    instant got_at{}, free_at{}, tick_at = instant::max();
  };

  std::uint64_t site(std::size_t who) const { return who % sites_; }
  distance far_from(std::size_t a, std::size_t b) const {
    return site(a) == site(b) ? distance::same_site : distance::far;
  }
  bool chance(double p) { return static_cast<double>(random_.next() >> 11) * 0x1p-53 < p; }
  void push(instant at, std::size_t who, what kind, address from = 0, message m = {}) {
    events_.push({at, ++last_event_, who, kind, from, std::move(m)});
  }
  void send(std::size_t from, address to, message m) {
    const auto* const p = std::get_if<published>(&m.body);
    const std::size_t size = p != nullptr ? p->contents.size() : 0;
    if (size != 0) {
      bytes_from[from] += size, read_from[from].insert(to);
      if (site(from) != site(to)) between_sites += size;
    }
    instant& free = places_[from]->free_at;
    free = std::max(free, now) +
           instant(static_cast<std::int64_t>(double(size) / bytes_in_microsecond));
    for (int copies = chance(weather_.duplication) ? 2 : 1; copies > 0; --copies) {
      if (chance(weather_.loss)) continue;
      instant at = (size != 0 ? free : now) + (site(from) == site(to) ? latency : far_latency);
      if (weather_.jitter != 0)
        at += instant(
            static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(weather_.jitter))));
      push(at, static_cast<std::size_t>(to), what::message, from, m);
    }
  }
  void happen(const event& e) {
    place& p = *places_[e.who];
    if (!p.alive) return;
    if (e.kind == what::die) {
      p.alive = false;
      for (auto& other : places_) {
        if (!other->alive || other->peers.find(e.who) == nullptr) continue;
        other->published_data.gone(now, e.who);
        after(*other);
      }
      return;
    }
    // The publisher's heartbeats.
    if (peer* const publisher = p.peers.find(0); publisher != nullptr && places_[0]->alive)
      publisher->heard = now;
    if (e.kind == what::begin) p.published_data.fetch(now, 0, 7);
    if (e.kind == what::tick && e.at >= p.tick_at)
      p.tick_at = instant::max(), p.published_data.tick(now);
    if (e.kind == what::message) {
      if (peer* const known = p.peers.find(e.from)) known->heard = now;
      if (const auto* f = std::get_if<net_fetch>(&e.m.body))
        p.published_data.on_fetch(now, e.from, *f);
      if (const auto* f = std::get_if<published>(&e.m.body))
        p.published_data.on_published(now, e.from, *f);
    }
    after(p);
  }
  void after(place& p) {
    const instant next = std::max(p.published_data.next(), now + instant(1));
    if (p.published_data.next() == instant::max() || next >= p.tick_at) return;
    p.tick_at = next;
    push(next, p.number, what::tick);
  }

  using net_fetch = cleave::net::fetch;
  weather weather_;
  random_numbers random_;
  std::size_t sites_;
  std::vector<std::unique_ptr<place>> places_;
  std::priority_queue<event> events_;
  std::uint64_t last_event_ = 0;
};

/// A thousandth of the real ones.
settings in_thousandths() {
  settings how;
  how.small_bytes = 65, how.part_bytes = 131;
  return how;
}
constexpr instant long_enough{600'000'000};

TEST(Publications, ComeToAllThatFetchThem) {
  for (const std::size_t size : {0U, 1U, 64U, 65U, 66U, 131U, 132U, 5'000U}) {
    nodes_that_fetch all(20, size, in_thousandths());
    for (std::size_t i = 1; i < 20; ++i) all.fetch(i);
    all.run(long_enough);
    EXPECT_EQ(all.that_have(), 19U) << size;
  }
}

TEST(Publications, GoToSomeNodesInTheTimeOfOne) {
  constexpr std::size_t size = 64'000;
  nodes_that_fetch one(2, size, in_thousandths()), all(33, size, in_thousandths());
  for (auto* some : {&one, &all}) {
    for (std::size_t i = 1; i < (some == &one ? 2U : 33U); ++i) some->fetch(i);
    some->run(long_enough);
  }
  EXPECT_EQ(all.that_have(), 32U);
  EXPECT_LT(all.last().count(), 1.25 * static_cast<double>(one.last().count()));
}

TEST(Publications, GoToAThousandNodesInTwiceTheTimeOfOne) {
  constexpr std::size_t size = 64'000;
  nodes_that_fetch one(2, size, in_thousandths());
  one.fetch(1);
  one.run(long_enough);
  ASSERT_TRUE(one.has(1));
  constexpr std::size_t others = cleave::tests::sanitized ? 256 : 1'024;
  nodes_that_fetch all(1 + others, size, in_thousandths());
  for (std::size_t i = 1; i <= others; ++i) all.fetch(i);
  all.run(long_enough);
  EXPECT_EQ(all.that_have(), others);
  EXPECT_LT(all.last().count(), 2.5 * static_cast<double>(one.last().count()));
  EXPECT_LE(all.read_from[0].size(), 2U);
  for (const auto& [who, bytes] : all.bytes_from) EXPECT_LE(bytes, 2 * size) << who;
}

TEST(Publications, CrossEachLinkBetweenSitesOnce) {
  constexpr std::size_t size = 20'000;
  nodes_that_fetch all(64, size, in_thousandths(), {}, 1, 4);
  for (std::size_t i = 1; i < 64; ++i)
    all.fetch(i, instant(static_cast<std::int64_t>(100'000 * (i / 4))));
  all.run(long_enough);
  EXPECT_EQ(all.that_have(), 63U);
  EXPECT_LE(all.between_sites, 3 * size);
}

TEST(Publications, ComeToAllThatLiveWhileOthersDie) {
  for (std::uint64_t seed = 1; seed <= some_seeds; ++seed) {
    nodes_that_fetch all(100, 20'000, in_thousandths(), {}, seed);
    random_numbers random(seed);
    for (std::size_t i = 1; i < 100; ++i)
      all.fetch(i, instant(static_cast<std::int64_t>(random.below(300'000))));
    std::set<std::size_t> dead;
    for (int k = 0; k < 30; ++k) {
      const std::size_t who = 1 + random.below(99);
      dead.insert(who);
      all.kill(who, instant(static_cast<std::int64_t>(random.below(600'000))));
    }
    all.run(long_enough);
    for (std::size_t i = 1; i < 100; ++i)
      EXPECT_TRUE(all.has(i) || dead.count(i) != 0) << "seed " << seed << ", node " << i;
  }
}

TEST(Publications, ComeWhateverHappensToMessages) {
  for (std::uint64_t seed = 1; seed <= some_seeds; ++seed) {
    settings how = in_thousandths();
    how.parts_ahead = 1 + static_cast<unsigned>(seed % 8);
    nodes_that_fetch all(12, 3'000, how, {0.1, 0.2, 20'000}, seed, 1 + seed % 3);
    for (std::size_t i = 1; i < 12; ++i) all.fetch(i);
    all.run(long_enough);
    EXPECT_EQ(all.that_have(), 11U) << seed;
  }
}

TEST(Publications, CannotBeHadFromAPublisherThatIsGone) {
  nodes_that_fetch all(10, 50'000, in_thousandths());
  for (std::size_t i = 1; i < 10; ++i) all.fetch(i);
  all.kill(0, instant(50'000));
  all.run(long_enough);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_TRUE(all.failed(i)) << i;
}

TEST(Publications, AreSentDirectlyByAnIdlePublisher) {
  nodes_that_fetch all(10, 20'000, in_thousandths());
  for (std::size_t i = 1; i < 10; ++i)
    all.fetch(i, instant(static_cast<std::int64_t>(i * 20'000'000)));
  all.run(long_enough);
  EXPECT_EQ(all.that_have(), 9U);
  EXPECT_EQ(all.read_from[0].size(), 9U);
}

// ---- who gets them from whom

TEST(Holders, AreATreeInTheOrderInWhichTheyCome) {
  holders tree(0, 2, 0);
  EXPECT_EQ(tree.source_for(1, 0, 0), 0U);
  EXPECT_EQ(tree.source_for(2, 0, 1), 0U);
  EXPECT_EQ(tree.source_for(3, 0, 2), 1U);
  EXPECT_EQ(tree.source_for(4, 0, 2), 1U);
  EXPECT_EQ(tree.source_for(5, 0, 2), 2U);
  EXPECT_EQ(tree.source_for(6, 0, 2), 2U);
  EXPECT_EQ(tree.source_for(7, 0, 2), 3U);
}

TEST(Holders, AreAChainUpToItsLength) {
  holders tree(0, 2, 3);
  EXPECT_EQ(tree.source_for(1, 0, 0), 0U);
  EXPECT_EQ(tree.source_for(2, 0, 1), 1U);
  EXPECT_EQ(tree.source_for(3, 0, 1), 2U);
  EXPECT_EQ(tree.source_for(4, 0, 1), 0U);
  EXPECT_EQ(tree.source_for(5, 0, 2), 4U);
  EXPECT_EQ(tree.source_for(6, 0, 2), 5U);
  EXPECT_EQ(tree.source_for(7, 0, 2), 1U);
}

TEST(Holders, AreAskedAtTheirOwnSiteFirst) {
  holders tree(0, 2, 0);
  EXPECT_EQ(tree.source_for(1, 3, 0), 0U);
  EXPECT_EQ(tree.source_for(2, 3, 1), 1U);
  EXPECT_EQ(tree.source_for(3, 4, 1), 0U);
  EXPECT_EQ(tree.source_for(4, 0, 0), 0U);
  EXPECT_EQ(tree.source_for(5, 4, 2), 3U);
  EXPECT_EQ(tree.source_for(6, 0, 2), 4U);
}

// What goes between sites is worse than three readers.
TEST(Holders, AreAskedAtTheirOwnSiteAlsoWhereNoneHasRoom) {
  holders tree(0, 1, 0);
  EXPECT_EQ(tree.source_for(1, 1, 0), 0U);
  EXPECT_EQ(tree.source_for(2, 0, 1), 0U);
}

TEST(Holders, NeverAskWhoAsksThem) {
  random_numbers random(1);
  for (int round = 0; round < 200; ++round) {
    holders tree(0, 1 + random.below(3), random.below(2) * random.below(20));
    std::map<address, address> from;
    for (int k = 0; k < 60; ++k) {
      const address who = 1 + random.below(12);
      if (random.below(4) == 0) {
        tree.forget(who);
        from.erase(who);
        continue;
      }
      from[who] = tree.source_for(who, random.below(3), random.below(4));
      address at = from[who];
      for (int steps = 0; at != 0 && from.count(at) != 0; ++steps) {
        ASSERT_NE(at, who);
        ASSERT_LT(steps, 20);
        at = from[at];
      }
    }
  }
}

}  // namespace
