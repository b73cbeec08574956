// Whom each strategy asks: by choose() alone, and by a node that knows a few others.
#include "protocol/strategy.hpp"

#include "protocol/idle_core.hpp"
#include "protocol/node.hpp"
#include "sanitized.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace cleave::net;
using cleave::tests::sanitized;
using counts = std::map<address, unsigned>;

constexpr unsigned draws = sanitized ? 5'000 : 20'000;

/// A peer with a heartbeat; the depth of its task is how often that was split.
candidate at(address who, distance how_far, std::uint64_t site, std::uint32_t depth,
             std::uint32_t busy = 1) {
  candidate c{who, how_far, site, true, {}};
  c.state.workers = 8, c.state.busy = busy, c.state.depth = depth;
  return c;
}

/// How often each is chosen, by one seed.
counts chosen(strategy how, const std::vector<candidate>& from, const server_tree& servers = {}) {
  counts all;
  random_numbers random(7);
  for (unsigned i = 0; i < draws; ++i) ++all[choose(how, from, random, servers).value()];
  return all;
}
/// The part of the draws that went there.
double part(const counts& all, std::initializer_list<address> to) {
  double n = 0;
  for (const address who : to) n += all.count(who) != 0 ? all.at(who) : 0;
  return n / draws;
}
const double noise = 4 * std::sqrt(0.25 / draws);  // four standard deviations of such a part

constexpr auto near = distance::same_site, far = distance::far;
// Site 1 is this node's.
const std::vector<candidate> some = {at(11, near, 1, 9), at(12, near, 1, 5, 2), at(13, near, 1, 5),
                                     at(21, far, 2, 3),  at(22, far, 2, 7),     at(31, far, 3, 3)};

TEST(Strategy, RandomAsksEachAsOften) {
  const counts all = chosen(strategy::random, some);
  for (const candidate& c : some) EXPECT_NEAR(part(all, {c.at}), 1.0 / 6, noise) << c.at;
}

TEST(Strategy, NearFirstAsksAFarOneOnceInSoManyTimesAsThereAreNearOnes) {
  const counts all = chosen(strategy::near_first, some);
  EXPECT_NEAR(part(all, {21, 22, 31}), 1.0 / 4, noise);
  // Of two near ones the better: split less, then busier. The worst is asked if both draws hit it.
  EXPECT_NEAR(part(all, {11}), 3.0 / 4 / 9, noise);
  EXPECT_NEAR(part(all, {12}), 3.0 / 4 * 5 / 9, noise);
  EXPECT_NEAR(part(all, {22}), 1.0 / 4 / 9, noise);
}

TEST(Strategy, TwoChoicesAsksTheBetterOfTwoHoweverFar) {
  const counts all = chosen(strategy::two_choices, some);
  EXPECT_NEAR(part(all, {11}), 1.0 / 36, noise);  // split most often
  EXPECT_NEAR(part(all, {22}), 3.0 / 36, noise);
  EXPECT_NEAR(part(all, {21, 31}), 20.0 / 36, noise);
}

TEST(Strategy, LeastSplitAsksTheLeastSplitThenTheNearest) {
  EXPECT_NEAR(part(chosen(strategy::least_split, some), {21, 31}), 1, 0);
  auto others = some;
  others.push_back(at(14, near, 1, 3));
  EXPECT_EQ(chosen(strategy::least_split, others), (counts{{14, draws}}));
}

TEST(Strategy, WhoIsNotKnownToComputeComesLast) {
  std::vector<candidate> from = {at(11, near, 1, 0, 0), at(21, far, 2, 40)};
  from.push_back({31, far, 3, false, {}});
  EXPECT_EQ(chosen(strategy::least_split, from), (counts{{21, draws}}));
  EXPECT_NEAR(part(chosen(strategy::two_choices, from), {21}), 5.0 / 9, noise);
}

TEST(Strategy, NobodyIsAskedWhereThereIsNone) {
  random_numbers random(7);
  for (const auto& [name, how] : strategy_names) EXPECT_FALSE(choose(how, {}, random)) << name;
}

// ---- as Tascell's servers

TEST(RelayRandom, AsksUpOnceInOneMoreTimesThanTheSiteHasNodes) {
  // Site 2 has the root's node: its server has nodes 21 and 22 and the server of site 3 below it.
  const server_tree servers{.nodes = 4, .at_root = false, .root_site = 2};
  const counts all = chosen(strategy::relay_random, some, servers);
  for (const address who : {11, 12, 13}) EXPECT_NEAR(part(all, {who}), 4.0 / 5 / 3, noise);
  for (const address who : {21, 22, 31}) EXPECT_NEAR(part(all, {who}), 1.0 / 5 / 3, noise);
}

TEST(RelayRandom, ChoosesAtTheRootAmongItsNodesAndTheOtherSites) {
  const counts all = chosen(strategy::relay_random, some, {.nodes = 4, .at_root = true});
  for (const address who : {11, 12, 13, 31}) EXPECT_NEAR(part(all, {who}), 1.0 / 5, noise);
  EXPECT_NEAR(part(all, {21, 22}), 1.0 / 5, noise);
}

TEST(RelayRandom, TakesEachSiteToHaveAsManyNodesAsItIsTold) {
  const server_tree here{.nodes = 4, .at_root = false, .root_site = 2, .site_nodes = 9};
  const counts all = chosen(strategy::relay_random, some, here);
  EXPECT_NEAR(part(all, {11, 12, 13}), 9.0 / 10, noise);
  EXPECT_NEAR(part(all, {21, 22}), 1.0 / 10 * 9 / 10, noise);
  const counts at_root =
      chosen(strategy::relay_random, some, {.nodes = 4, .at_root = true, .site_nodes = 9});
  EXPECT_NEAR(part(at_root, {11, 12, 13}), 9.0 / 11, noise);
}

TEST(RelayRandom, AsksWhereThereIsSomething) {
  const server_tree servers{.nodes = 4, .at_root = false, .root_site = 2, .site_nodes = 9};
  EXPECT_EQ(chosen(strategy::relay_random, {some[0]}, servers), (counts{{11, draws}}));
  EXPECT_EQ(chosen(strategy::relay_random, {some[5]}, servers), (counts{{31, draws}}));
}

// ---- by a node

struct noted_requests final : network_port {
  std::vector<address> to;
  void send(address who, message m) override {
    if (std::holds_alternative<task_request>(m.body)) to.push_back(who);
  }
  void say(const std::string&) override {}
};

/// Whom a node at address 5 of site 1 asks when so many of its workers starve, which has just come
/// and knows four others; node 0, the root's, is at site 2. `process`: decides what is random.
std::vector<address> asked(const preference& p, incarnation process, unsigned starving = 1) {
  settings how;
  how.follow(p);
  idle_core core;
  noted_requests network;
  no_gathered nothing;
  node n({5, process, 1}, how, core, nothing, network);
  const instant now{1'000};
  for (const candidate& c :
       {at(1, near, 1, 5), at(0, far, 2, 3), at(2, far, 2, 9), at(3, far, 3, 9)}) {
    n.peer_found(now, c.at, c.how_far, c.site);
    n.receive(now, c.at, {1, c.at + 100'000, process, heartbeat{1, 0, false, c.state, {}}});
  }
  for (unsigned worker = 0; worker < starving; ++worker) n.starving(now, worker, 0);
  n.tick(now);
  return network.to;
}
counts asked_by_many(const preference& p) {
  counts all;
  for (incarnation process = 1; process <= draws; ++process)
    for (const address who : asked(p, process)) ++all[who];
  return all;
}

TEST(Asking, FollowsThePreference) {
  const counts anybody = asked_by_many({strategy::random});
  for (const address who : {0, 1, 2, 3}) EXPECT_NEAR(part(anybody, {who}), 1.0 / 4, noise) << who;
  EXPECT_NEAR(part(asked_by_many({strategy::near_first}), {1}), 1.0 / 2, noise);
  EXPECT_NEAR(part(asked_by_many({strategy::two_choices}), {0}), 7.0 / 16, noise);
  EXPECT_NEAR(part(asked_by_many({strategy::least_split}), {0}), 1, 0);
}

// Two nodes at this site: up with probability 1/3, then to nodes 0 and 2 and the third site alike.
TEST(Asking, KnowsTheServersOfOtherSites) {
  const counts all = asked_by_many({strategy::relay_random});
  EXPECT_NEAR(part(all, {1}), 2.0 / 3, noise);
  for (const address who : {0, 2, 3}) EXPECT_NEAR(part(all, {who}), 1.0 / 9, noise) << who;
  const counts nine = asked_by_many({strategy::relay_random, 9});
  EXPECT_NEAR(part(nine, {1}), 9.0 / 10, noise);
  EXPECT_NEAR(part(nine, {3}), 1.0 / 10 / 10, noise);
}

TEST(Asking, HasOneRequestUnderWayLikeTascellsNodes) {
  EXPECT_EQ(asked({strategy::relay_random}, 1, 3).size(), 1U);
  EXPECT_EQ(asked({strategy::near_first}, 1, 3).size(), 3U);
}

// ---- what users set

TEST(Preference, WhatIsWrittenIsRead) {
  for (const auto& [name, how] : strategy_names) {
    const preference p = read_preference("CLEAVE_ASK", name);
    EXPECT_EQ(p, (preference{how, 0})) << name;
    EXPECT_EQ(to_string(p), name);
  }
  const preference eight = read_preference("CLEAVE_ASK", "relay-random,8");
  EXPECT_EQ(eight, (preference{strategy::relay_random, 8}));
  EXPECT_EQ(to_string(eight), "relay-random,8");
}

std::string refused(const char* text) {
  try {
    read_preference("CLEAVE_ASK", text);
  } catch (const std::invalid_argument& e) { return e.what(); }
  return "nothing is wrong";
}

TEST(Preference, WhatIsNoStrategyIsRefused) {
  const std::string expected =
      "CLEAVE_ASK: expected near-first, random, two-choices, least-split or relay-random[,N], got ";
  for (const char* text : {"nearest", "relay", "", " random", "random,3", "server-random"})
    EXPECT_EQ(refused(text), expected + "'" + text + "'");
  for (const std::string number : {"0", "65537", "", "x", "8,9"}) {
    EXPECT_EQ(refused(("relay-random," + number).c_str()),
              "CLEAVE_ASK: relay-random,N: expected a whole number from 1 to 65536, got '" +
                  number + "'");
  }
}

}  // namespace
