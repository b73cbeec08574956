// The protocol's rules one by one, with ports that write down what comes. All of them together:
// tests/sim.
#include "protocol/node.hpp"

#include "protocol/idle_core.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace cleave::net;

struct fake_core final : core_port {
  std::vector<std::string> calls;
  bool takes = true, unclaimed = true;
  unsigned last_losses = 0;
  load is{2, 1, 0};

  void note(const std::string& what, std::uint64_t n) {
    calls.push_back(what + " " + std::to_string(n));
  }
  void ask(unsigned slot, std::uint64_t wanted) override {
    note("ask " + std::to_string(slot) + " for", wanted);
  }
  bool withdraw(unsigned slot) override { return note("withdraw", slot), unclaimed; }
  bool start(asker who, const traveller& t) override {
    if (takes) note("start at " + std::to_string(who), t.id);
    return takes;
  }
  void refuse(asker) override {}
  void complete(std::uint64_t task, const outcome& end) override {
    note(end.how == ending::error ? "fail" : "complete", task);
  }
  void again(std::uint64_t task, unsigned losses) override {
    note("again", task);
    last_losses = losses;
  }
  void cancel(std::uint64_t task) override { note("cancel", task); }
  load state() const override { return is; }
  bytes shared() const override { return {std::byte{7}}; }
  bytes merge(std::span<const std::byte> v, bool) override {
    note("merge", v.size());
    return merge_fails ? bytes(1) : bytes();
  }
  bool merge_fails = false;
  std::optional<bytes> publication(std::uint64_t) const override { return published_data; }
  std::optional<bytes> published_data;
  void fetched(address, std::uint64_t id, std::optional<bytes> b) override {
    note(b ? "data" : "no data", id);
  }
};

struct fake_network final : network_port {
  std::vector<std::pair<address, message>> sent;
  std::vector<std::string> lines;
  void send(address to, message m) override { sent.emplace_back(to, std::move(m)); }
  void say(const std::string& line) override { lines.push_back(line); }
};

/// Node 1, whose peer is node 2.
struct Protocol : testing::Test {
  static constexpr incarnation me = 11, other = 22;
  fake_core core;
  fake_network network;
  no_gathered nothing;
  node n{{1, me, 5}, {}, core, nothing, network};
  instant now{1000};

  Protocol() {
    n.peer_found(now, 2, distance::same_site, 0);
    hear(heartbeat{1, 0, false, {2, 1, 0}, {}});
    forget();
  }
  void forget() { core.calls.clear(), network.sent.clear(); }
  void hear(message_body body, incarnation from = other, incarnation to = me) {
    n.receive(now, 2, {5, from, to, std::move(body)});
  }
  void pass(instant time) {
    const instant end = now + time;
    while (n.next() <= end) now = std::max(now, n.next()), n.tick(now);
    now = end;
  }
  /// What was sent of that kind.
  template <class Body>
  std::vector<Body> sent() const {
    std::vector<Body> all;
    for (const auto& [to, m] : network.sent) {
      if (const auto* b = std::get_if<Body>(&m.body)) all.push_back(*b);
    }
    return all;
  }
  using calls = std::vector<std::string>;
};

TEST_F(Protocol, AnswersARequestOnce) {
  hear(task_request{1, {}});
  hear(task_request{1, {}});
  EXPECT_EQ(core.calls, calls{"ask 0 for 0"});
  n.answered(now, 0, {9, 1, 3, {}});
  hear(task_request{1, {}});
  ASSERT_EQ(sent<task>().size(), 1U);
  EXPECT_EQ(sent<task>()[0].key.task, 9U);
  EXPECT_TRUE(sent<none>().empty());
}

TEST_F(Protocol, AnswersARequestThatALaterOneHasOvertaken) {
  for (const std::uint64_t request : {1, 2, 100, 99, 100}) hear(task_request{request, {}});
  EXPECT_EQ(core.calls, (calls{"ask 0 for 0", "ask 1 for 0", "ask 2 for 0", "ask 3 for 0"}));
}

TEST_F(Protocol, TakesANoneFromWhoWasAskedOnly) {
  n.starving(now, 4, 0);
  ASSERT_EQ(sent<task_request>().size(), 1U);
  n.receive(now, 3, {5, 33, me, none{sent<task_request>()[0].request, 0}});
  EXPECT_EQ(sent<task_request>().size(), 1U);  // it still waits for the answer
}

TEST_F(Protocol, RunsATaskOnceHoweverOftenItComes) {
  n.starving(now, 4, 0);
  const task one{sent<task_request>().at(0).request, {9, 1}, 1, 3, {}, {}};
  hear(one);
  hear(one);
  n.finished(now, 1, {ending::value, {}});
  hear(result_receipt{{9, 1}});
  n.starving(now, 4, 0);
  forget();
  hear(one);
  EXPECT_EQ(core.calls, calls{});
  EXPECT_TRUE(sent<task_result>().empty());
}

TEST_F(Protocol, SaysNoneAfterAMillisecond) {
  hear(task_request{1, {}});
  pass(instant(999));
  EXPECT_TRUE(sent<none>().empty());
  pass(instant(1));
  EXPECT_EQ(sent<none>().size(), 1U);
  EXPECT_EQ(n.slots()[0].is, request_slot::state::free);
}

TEST_F(Protocol, WaitsForAWorkerThatHasTakenARequestOn) {
  core.unclaimed = false;
  hear(task_request{1, {}});
  pass(instant(50'000));
  EXPECT_TRUE(sent<none>().empty());
  n.answered(now, 0, {9, 1, 3, {}});
  EXPECT_EQ(sent<task>().size(), 1U);
}

TEST_F(Protocol, SaysNoneAtOnceWithoutWork) {
  core.is.busy = 0;
  hear(task_request{1, {}});
  EXPECT_EQ(sent<none>().size(), 1U);
  EXPECT_TRUE(core.calls.empty());
}

TEST_F(Protocol, AResultWithoutItsBoundIsAnError) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  const task_key key = sent<task>()[0].key;
  forget();
  core.merge_fails = true;
  hear(task_result{key, ending::value, {}, bytes(3)});
  EXPECT_EQ(core.calls, (calls{"merge 3", "fail 9"}));
}

TEST_F(Protocol, MergesTheBoundThenTheResultOnce) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  const task_key key = sent<task>()[0].key;
  forget();
  hear(task_result{{key.task, key.attempt + 1}, ending::value, {}, {}});
  EXPECT_TRUE(core.calls.empty());
  hear(task_result{key, ending::value, {}, bytes(3)});
  hear(task_result{key, ending::value, {}, bytes(3)});
  EXPECT_EQ(core.calls, (calls{"merge 3", "complete 9"}));
  EXPECT_EQ(sent<result_receipt>().size(), 3U);  // a late one too need not be sent again
}

TEST_F(Protocol, GivesAgainWhatALostThiefHad) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  const task_key key = sent<task>()[0].key;
  forget();
  n.peer_lost(now, 2);
  EXPECT_EQ(core.calls, calls{"again 9"});
  hear(task_result{key, ending::value, {}, {}});
  EXPECT_EQ(core.calls, calls{"again 9"});
}

TEST_F(Protocol, SaysWithHowManyNodesATaskWasLost) {
  for (unsigned losses = 1; losses <= losses_to_stay; ++losses) {
    hear(task_request{losses, {}});
    n.answered(now, 0, {9, 1, 3, {}, core.last_losses});
    n.peer_lost(now, 2);
    EXPECT_EQ(core.last_losses, losses);
    hear(heartbeat{losses + 1, 0, false, {2, 1, 0}, {}});
  }
}

/// Two that have its tasks: 3 is lost, and where one was others may be.
struct ProtocolAmongTheDying : Protocol {
  static constexpr incarnation third = 33;
  task_key key;

  void SetUp() override {
    n.peer_found(now, 3, distance::same_site, 0);
    n.receive(now, 3, {5, third, me, task_request{1, {}}});
    n.answered(now, 0, {8, 1, 3, {}});
    hear(task_request{1, {}});
    n.answered(now, 0, {9, 1, 3, {}});
    key = sent<task>()[1].key;
  }
  /// Time in which the one that is left says that it has the task.
  void pass_with_beats(unsigned beats) {
    for (unsigned i = 0; i < beats; ++i) {
      pass(n.how().heartbeat_every);
      hear(heartbeat{++number, 0, false, {2, 1, 0}, {key}});
    }
  }
  void expect_taken_back() {
    EXPECT_EQ(core.calls.back(), "again 9");
    ASSERT_EQ(sent<cancel>().size(), 1U);
    EXPECT_EQ(sent<cancel>()[0].key, key);
    forget();
    hear(task_result{key, ending::value, {}, {}});  // it lives after all
    EXPECT_TRUE(core.calls.empty());
  }
  /// For a request for a part of it to be answered, if it is at all.
  instant enough() const { return 2 * n.how().give_up_soon; }
  std::uint64_t number = 100;
};

TEST_F(ProtocolAmongTheDying, TakesAllBackFromWhoIsLikelyToBeLost) {
  n.peer_lost(now, 3);
  n.starving(now, 4, 9);
  EXPECT_EQ(sent<task_request>().back().wanted, key);
  pass(enough() / 4);
  hear(none{sent<task_request>().back().request, 0});  // it lives
  pass(enough() / 4);
  EXPECT_GT(sent<task_request>().size(), 1U);
  EXPECT_TRUE(sent<cancel>().empty());
  pass(enough());
  expect_taken_back();
}

TEST_F(ProtocolAmongTheDying, TakesNothingBackFromWhoIsHeard) {
  n.peer_lost(now, 3);
  n.starving(now, 4, 9);
  pass(enough() / 4);
  hear(heartbeat{++number, 0, false, {2, 1, 0}, {key}});  // only its answer is lost
  pass(n.how().give_up_soon);
  EXPECT_TRUE(sent<cancel>().empty());
}

TEST_F(ProtocolAmongTheDying, TakesAllBackOnlyForWhoWaitsForIt) {
  n.peer_lost(now, 3);
  n.starving(now, 4, 0);
  pass(enough());
  EXPECT_TRUE(sent<cancel>().empty());
  n.starving(now, 5, 9);
  pass(enough());
  expect_taken_back();
}

TEST_F(ProtocolAmongTheDying, WaitsForWhoIsSilentWhereNobodyWasLost) {
  n.starving(now, 4, 9);
  pass(enough());
  EXPECT_TRUE(sent<cancel>().empty());
}

TEST_F(ProtocolAmongTheDying, WaitsForWhoIsSilentWhereLossesAreRare) {
  pass_with_beats(1 + static_cast<unsigned>(n.how().short_life / n.how().heartbeat_every));
  n.peer_lost(now, 3);
  n.starving(now, 4, 9);
  pass(enough());
  EXPECT_TRUE(sent<cancel>().empty());
}

TEST_F(ProtocolAmongTheDying, DoesNotTakeALeaveForALoss) {
  n.receive(now, 3, {5, third, me, cleave::net::leave{false}});
  n.receive(now, 3, {5, third, me, cleave::net::leave{true}});
  n.starving(now, 4, 9);
  pass(enough());
  EXPECT_TRUE(sent<cancel>().empty());
}

/// The root's node, among nodes that live for some seconds.
struct ProtocolOfTheRoot : testing::Test {
  fake_core core;
  fake_network network;
  no_gathered nothing;
  node n{{0, 11, 5}, {}, core, nothing, network};
  instant now{1000};
  std::uint64_t last = 0;

  ProtocolOfTheRoot() {
    n.peer_found(now, 2, distance::same_site, 0);
    beat();
  }
  void beat() { n.receive(now, 2, {5, 22, 11, heartbeat{++last, 0, false, {2, 1, 0}, {}}}); }
  void ask() { n.receive(now, 2, {5, 22, 11, task_request{++last, {}}}); }
  /// A worker splits a task of this depth for a request: whether it is given.
  bool gives(std::uint64_t id, std::uint64_t depth) {
    ask();
    core.calls.clear();
    n.answered(now, 0, {id, 1, depth, {}});
    return n.given().count(id) != 0;
  }
  /// One that was given a while ago is lost with its node, which another one takes the place of.
  void lose_one() {
    now += instant(1'900'000);
    n.peer_lost(now, 2);
    beat();
  }
};

TEST_F(ProtocolOfTheRoot, KeepsWhatTakesLongerThanNodesLive) {
  EXPECT_TRUE(gives(8, 0));
  lose_one();
  EXPECT_FALSE(gives(9, 0));
  EXPECT_EQ(core.calls, (std::vector<std::string>{"again 9", "ask 0 for 0"}));
  EXPECT_EQ(core.last_losses, losses_to_stay);  // it stays
  n.answered(now, 0, {10, 1, 1, {}});           // a part of it, for the same request
  EXPECT_EQ(n.given().count(10), 1U);
}

TEST_F(ProtocolOfTheRoot, GivesWhatTakesAMoment) {
  EXPECT_TRUE(gives(8, 0));
  lose_one();
  for (std::uint64_t id = 10; id < 18; ++id) {
    EXPECT_FALSE(gives(1, 0));
    n.answered(now, 0, {id, 1, 1, {}});
    const task_key key{id, n.given().at(id).attempt};
    n.receive(now, 2, {5, 22, 11, task_result{key, ending::value, {}, {}}});
  }
  EXPECT_TRUE(gives(9, 0));  // eight in a row took no time
}

TEST_F(ProtocolOfTheRoot, GivesAPartOfATaskWhateverItTakes) {
  n.starving(now, 4, 0);
  n.receive(now, 2, {5, 22, 11, task{1, {9, 1}, 1, 3, {}, {}}});
  EXPECT_TRUE(gives(8, 0));
  lose_one();
  n.starving(now, 5, 0);
  n.receive(now, 2, {5, 22, 11, task{2, {9, 2}, 1, 3, {}, {}}});
  n.receive(now, 2, {5, 22, 11, task_request{++last, {9, 2}}});
  n.answered(now, 0, {10, 1, 0, {}});
  EXPECT_EQ(n.given().count(10), 1U);
}

TEST_F(ProtocolAmongTheDying, GivesWhatItWouldLoseItself) {
  n.peer_lost(now + n.how().heartbeat_every * 10, 3);
  hear(task_request{2, {}});
  n.answered(now, 0, {10, 1, 0, {}});
  EXPECT_EQ(n.given().count(10), 1U);
}

TEST_F(Protocol, DoesNotTakeARefusalForALoss) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}, 1});
  const task_key key = sent<task>()[0].key;
  hear(task_result{key, ending::refused, {}, {}});
  EXPECT_EQ(core.calls.back(), "again 9");
  EXPECT_EQ(core.last_losses, 1U);
}

TEST_F(Protocol, TakesSilenceForALoss) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  forget();
  pass(n.how().lost_after - n.how().heartbeat_every);
  EXPECT_TRUE(core.calls.empty());
  pass(3 * n.how().heartbeat_every);
  EXPECT_EQ(core.calls, calls{"again 9"});
}

TEST_F(Protocol, TakesAPartOfALongMessageForALifeSign) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  forget();
  for (int i = 0; i < 3; ++i) {
    pass(n.how().lost_after - n.how().heartbeat_every);
    n.alive(now, 2);
    n.alive(now, 77);  // nobody
  }
  EXPECT_TRUE(core.calls.empty());
  EXPECT_FALSE(n.peers().contains(77));
}

TEST_F(Protocol, GivesAgainWhatTwoHeartbeatsMiss) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  const task_key key = sent<task>()[0].key;
  forget();
  hear(heartbeat{2, 1000, false, {}, {key}});
  hear(heartbeat{3, 0, false, {}, {}});  // sent before the task came: it does not count
  hear(heartbeat{4, 1000, false, {}, {}});
  hear(heartbeat{4, 1000, false, {}, {}});  // the same again
  EXPECT_TRUE(core.calls.empty());
  hear(heartbeat{5, 1000, false, {}, {}});
  EXPECT_EQ(core.calls, calls{"again 9"});
}

TEST_F(Protocol, CancelsWhatNobodyWaitsFor) {
  hear(heartbeat{2, 0, false, {}, {{77, 1}}});
  ASSERT_EQ(sent<cancel>().size(), 1U);
  EXPECT_EQ(sent<cancel>()[0].key, (task_key{77, 1}));
}

TEST_F(Protocol, RunsATaskAndSendsItsResultUntilItIsAcknowledged) {
  n.starving(now, 4, 0);
  ASSERT_EQ(sent<task_request>().size(), 1U);
  hear(task{1, {9, 1}, 1, 3, {}, {}});
  EXPECT_EQ(core.calls, (calls{"merge 0", "start at 4 1"}));
  n.finished(now, 1, {ending::value, bytes(2)});
  pass(n.how().resend_after);
  ASSERT_EQ(sent<task_result>().size(), 2U);
  EXPECT_EQ(sent<task_result>()[0].shared, (bytes{std::byte{7}}));
  hear(result_receipt{{9, 1}});
  EXPECT_TRUE(n.held().empty());
}

TEST_F(Protocol, SendsALargeResultAgainWhenItCouldBeThere) {
  n.starving(now, 4, 0);
  hear(task{1, {9, 1}, 1, 3, {}, {}});
  const instant takes(500'000);
  n.finished(
      now, 1,
      {ending::value, bytes(static_cast<std::size_t>(takes.count()) * n.how().slowest_link)});
  for (int i = 0; i < 4; ++i) {
    pass(takes / 4);
    EXPECT_EQ(sent<task_result>().size(), 1U);
  }
  pass(n.how().resend_after);
  EXPECT_EQ(sent<task_result>().size(), 2U);
}

TEST_F(Protocol, RefusesALateTaskThatNobodyWants) {
  n.starving(now, 4, 0);
  n.satisfied(now, 4);
  hear(task{1, {9, 1}, 1, 3, {}, {}});
  ASSERT_EQ(sent<task_result>().size(), 1U);
  EXPECT_EQ(sent<task_result>()[0].how, ending::refused);
}

TEST_F(Protocol, TakesBackOnlyWhatIsRunning) {
  n.starving(now, 4, 0);
  hear(task{1, {9, 1}, 1, 3, {}, {}});
  forget();
  hear(task_request{1, {9, 1}});
  EXPECT_EQ(core.calls, calls{"ask 0 for 1"});
  n.finished(now, 1, {ending::value, {}});
  hear(task_request{2, {9, 1}});
  EXPECT_EQ(sent<none>().size(), 1U);
  hear(task_request{3, {}});  // another request is not held up
  EXPECT_EQ(core.calls.back(), "ask 1 for 0");
}

TEST_F(Protocol, AsksExactlyTheThiefForAPart) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  const task_key key = sent<task>()[0].key;
  n.peer_found(now, 3, distance::same_host, 0);
  forget();
  n.starving(now, 4, 9);
  ASSERT_EQ(network.sent.size(), 1U);
  EXPECT_EQ(network.sent[0].first, 2U);
  EXPECT_EQ(sent<task_request>()[0].wanted, key);
}

TEST_F(Protocol, NeverAsksTheAskerBack) {
  core.is.busy = 0;
  hear(task_request{1, {}});
  n.starving(now, 4, 0);
  EXPECT_TRUE(sent<task_request>().empty());
}

TEST_F(Protocol, CancelsOrphans) {
  n.starving(now, 4, 0);
  hear(task{1, {9, 1}, 1, 3, {}, {}});
  hear(heartbeat{1, 0, false, {}, {}}, 33, 0);  // another process at the same address
  EXPECT_EQ(core.calls.back(), "cancel 1");
}

TEST_F(Protocol, IgnoresWhatWasMeantForAnEarlierProcess) {
  hear(task_request{1, {}}, other, 10);
  EXPECT_TRUE(core.calls.empty());
  EXPECT_TRUE(sent<none>().empty());
  EXPECT_EQ(sent<heartbeat>().size(), 1U);  // its sender learns better
}

TEST_F(Protocol, RefusesAnotherProgram) {
  n.receive(now, 2, {6, other, me, task_request{1, {}}});
  EXPECT_TRUE(core.calls.empty());
  ASSERT_EQ(sent<reject>().size(), 1U);
  EXPECT_EQ(network.lines.at(0), "node 2 runs another program: refused");
  n.starving(now, 4, 0);
  EXPECT_TRUE(sent<task_request>().empty());
}

TEST_F(Protocol, SaysOnceThatItIsRefused) {
  hear(reject{"other sources"});
  hear(reject{"other sources"});
  EXPECT_EQ(network.lines, calls{"node 2 refuses this one: other sources"});
  n.starving(now, 4, 0);
  EXPECT_TRUE(sent<task_request>().empty());
}

TEST_F(Protocol, RefusesAnotherVersion) {
  message m{5, other, me, cleave::net::leave{}};
  m.version = wire_version + 1;
  n.receive(now, 2, m);
  n.receive(now, 2, m);
  ASSERT_EQ(sent<reject>().size(), 2U);
  EXPECT_EQ(network.lines, calls{"node 2 speaks another version of the protocol: refused"});
  m.body = reject{};
  n.receive(now, 2, m);
  EXPECT_EQ(sent<reject>().size(), 2U);
  n.starving(now, 4, 0);
  EXPECT_TRUE(sent<task_request>().empty());
}

TEST_F(Protocol, GivesAgainWhatAProcessHadWhoseSuccessorRunsAnotherProgram) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  forget();
  n.receive(now, 2, {6, 33, 0, task_request{1, {}}});
  EXPECT_EQ(core.calls, calls{"again 9"});
}

TEST_F(Protocol, SaysThatItGoesToNodesOfAnotherProgramToo) {
  n.receive(now, 2, {6, other, me, task_request{1, {}}});
  n.leave(now, now);
  ASSERT_EQ(sent<cleave::net::leave>().size(), 1U);
  EXPECT_TRUE(sent<cleave::net::leave>()[0].gone);
}

TEST_F(Protocol, DoesNotAnswerANodeOfAnotherProgramThatGoes) {
  n.receive(now, 2, {6, other, me, task_request{1, {}}});
  forget();
  n.receive(now, 2, {6, other, me, cleave::net::leave{true}});
  n.leave(now, now);
  EXPECT_TRUE(network.sent.empty());
}

/// A datum of node 2 that comes at once.
published all_of(std::uint64_t id, bytes contents) {
  const std::size_t size = contents.size();
  return {2, id, publishing::part, 0, 0, size, std::move(contents)};
}

TEST_F(Protocol, EndsAFetchWhosePublisherIsSilent) {
  n.fetch_from(now, 2, 1);
  pass(n.how().forget_after);
  EXPECT_TRUE(core.calls.empty());
  EXPECT_GT(sent<fetch>().size(), 3U);
  pass(n.how().heartbeat_every + instant(1));
  EXPECT_EQ(core.calls, calls{"no data 1"});
  hear(all_of(1, bytes(4)));
  EXPECT_EQ(core.calls, calls{"no data 1"});
}

TEST_F(Protocol, WaitsForDataAsLongAsTheirPublisherLives) {
  n.fetch_from(now, 2, 1);
  for (std::uint64_t beat = 2; beat < 20; ++beat) {
    pass(n.how().forget_after / 3);
    hear(heartbeat{beat, 0, false, {2, 1, 0}, {}});
  }
  EXPECT_TRUE(core.calls.empty());
  hear(all_of(1, bytes(4)));
  EXPECT_EQ(core.calls, calls{"data 1"});
}

// Who has come just now hears of the others one by one.
TEST_F(Protocol, WaitsForAPublisherThatItHasNotHeardOfYet) {
  n.fetch_from(now, 3, 1);
  pass(instant(1));
  EXPECT_TRUE(core.calls.empty());
  forget();
  n.peer_found(now, 3, distance::far, 0);
  pass(instant(1));
  EXPECT_EQ(sent<fetch>().size(), 1U);
  n.peer_lost(now, 3);
  pass(n.how().lost_after);
  EXPECT_EQ(core.calls, calls{"no data 1"});
  n.fetch_from(now, 3, 2);
  pass(2 * n.how().lost_after);
  EXPECT_EQ(core.calls, (calls{"no data 1", "no data 2"}));
}

// It may be this node alone that has lost it, and an error here would end the job.
TEST_F(Protocol, WaitsForAPublisherThatIsLostForAMoment) {
  n.peer_found(now, 3, distance::far, 0);
  n.fetch_from(now, 3, 1);
  n.peer_lost(now, 3);
  pass(n.how().lost_after / 2);
  n.peer_found(now, 3, distance::far, 0);
  pass(n.how().lost_after);
  EXPECT_TRUE(core.calls.empty());
}

TEST_F(Protocol, DoesNotAskAgainWhileSomethingComes) {
  n.fetch_from(now, 2, 1);
  for (int i = 0; i < 20; ++i) pass(n.how().give_up_after / 2), n.alive(now, 2);
  EXPECT_EQ(sent<fetch>().size(), 1U);
  pass(n.how().give_up_after + instant(1));
  EXPECT_EQ(sent<fetch>().size(), 2U);
}

TEST_F(Protocol, SendsSmallDataAgainWhenTheyCouldBeThere) {
  core.published_data = bytes(n.how().small_bytes);
  const instant takes(n.how().small_bytes / n.how().slowest_link);
  for (int i = 0; i < 4; ++i) {
    hear(fetch{1, 1, 0, false, 0});
    EXPECT_EQ(sent<published>().size(), 1U);
    pass(takes / 4);
  }
  hear(fetch{1, 1, 0, false, 0});
  EXPECT_EQ(sent<published>().size(), 2U);
  hear(fetch{1, 2, 0, false, 0});
  EXPECT_EQ(sent<published>().size(), 3U);
}

TEST_F(Protocol, BeatsForWhoFetchesFromIt) {
  n.peer_found(now, 2, distance::far, 0);
  for (address far = 10; far < 50; ++far) n.peer_found(now, far, distance::far, 0);
  hear(fetch{1, 1, 0, false, 0});
  forget();
  pass(10 * n.how().heartbeat_every);
  std::size_t to_it = 0;
  for (const auto& [to, m] : network.sent) to_it += to == 2;
  EXPECT_GE(to_it, 10U);
}

/// Nodes at these addresses that all know each other; what one sends arrives at once.
struct Spreading : testing::Test {
  struct wire final : network_port {
    std::vector<std::tuple<address, address, message>>* all = nullptr;
    address self = 0;
    void send(address to, message m) override { all->emplace_back(self, to, std::move(m)); }
    void say(const std::string&) override {}
  };
  struct place {
    fake_core core;
    no_gathered nothing;
    wire out;
    std::unique_ptr<node> n;
  };
  std::map<address, place> places;
  std::vector<std::tuple<address, address, message>> letters;
  std::size_t updates = 0;
  instant now{1000};

  void build(const std::vector<address>& at) {
    for (const address a : at) {
      place& p = places[a];
      p.out.all = &letters, p.out.self = a;
      p.n = std::make_unique<node>(identity{a, a + 1000, 5}, settings{}, p.core, p.nothing, p.out);
    }
    for (auto& [a, p] : places) {
      for (const auto& [b, q] : places) p.n->peer_found(now, b, distance::far, 0);
    }
    deliver();
    updates = 0;
    for (auto& [a, p] : places) p.core.calls.clear();
  }
  void deliver() {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto [from, to, m] = letters[i];
      updates += std::holds_alternative<shared_update>(m.body);
      if (places.count(to) != 0) places.at(to).n->receive(now, from, m);
    }
    letters.clear();
  }
};

TEST_F(Spreading, AnImprovementCostsOneMessageForEachNode) {
  std::vector<address> at;
  for (address a = 0; a < 100; ++a) at.push_back(a * a);
  build(at);
  for (const address from : {0UL, 2500UL, 9801UL}) {
    places.at(from).n->improved(now, bytes(3));
    EXPECT_LE(letters.size(), settings{}.update_branches);
    deliver();
    EXPECT_EQ(updates, at.size() - 1);
    for (auto& [a, p] : places) {
      EXPECT_EQ(p.core.calls.size(), a == from ? 0U : 1U) << a;
      p.core.calls.clear();
    }
    updates = 0;
  }
}

TEST_F(Spreading, WhoIsGoneIsPassedOver) {
  build({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  places.erase(2);
  places.erase(5);
  for (auto& [a, p] : places) p.n->peer_lost(now, 2), p.n->peer_lost(now, 5);
  deliver();
  updates = 0;
  places.at(1).n->improved(now, bytes(3));
  deliver();
  EXPECT_EQ(updates, 9U);
}

TEST_F(Protocol, LeavesWhenNothingIsLeft) {
  n.starving(now, 4, 0);
  hear(task{1, {9, 1}, 1, 3, {}, {}});
  forget();
  core.is.busy = 1;
  n.leave(now, now + instant(10'000'000));
  n.starving(now, 5, 0);
  EXPECT_TRUE(sent<task_request>().empty());
  core.is.busy = 0;
  n.finished(now, 1, {ending::value, {}});
  n.tick(now);
  EXPECT_EQ(n.member(), membership::draining);  // its result may still be lost
  hear(result_receipt{{9, 1}});
  n.tick(now);
  EXPECT_EQ(n.member(), membership::left);
  EXPECT_TRUE(sent<leave>().back().gone);
}

TEST_F(Protocol, LeavesAtTheDeadline) {
  hear(task_request{1, {}});
  n.answered(now, 0, {9, 1, 3, {}});
  n.leave(now, now + instant(500));
  pass(instant(500));
  EXPECT_EQ(n.member(), membership::left);
}

TEST_F(Protocol, GivesUpAnAnswerThatDoesNotCome) {
  n.starving(now, 4, 0);
  n.peer_found(now, 3, distance::far, 0);
  pass(n.how().give_up_after + instant(1));
  EXPECT_GE(sent<task_request>().size(), 2U);
  hear(task{1, {9, 1}, 1, 3, {}, {}});  // late, and welcome
  EXPECT_EQ(core.calls.back(), "start at 4 1");
}

TEST_F(Protocol, SaysAtOnceThatItComputesAfterItWasIdle) {
  core.is.busy = 0;
  pass(n.how().heartbeat_every);
  forget();
  core.is.busy = 1;
  n.tick(now += instant(1));
  n.tick(now += instant(1));
  ASSERT_EQ(sent<heartbeat>().size(), 1U);
  EXPECT_EQ(sent<heartbeat>()[0].state.busy, 1U);
}

TEST_F(Protocol, AsksAtOnceWhoSaysThatItBeganToCompute) {
  hear(heartbeat{2, 0, false, {2, 0, 0}, {}});
  n.starving(now, 0, 0);
  pass(instant(50'000));
  EXPECT_TRUE(sent<task_request>().empty());
  now += instant(1);  // between two looks
  hear(heartbeat{3, 0, false, {2, 1, 0}, {}});
  EXPECT_EQ(sent<task_request>().size(), 1U);
}

TEST_F(Protocol, CountsSilenceOnlySinceThereIsSomethingBetween) {
  n.peer_found(now, 2, distance::far, 0);
  pass(10 * n.how().lost_after);  // it had no reason to say anything
  n.starving(now, 4, 0);
  ASSERT_EQ(sent<task_request>().size(), 1U);
  pass(n.how().lost_after - n.how().heartbeat_every);
  EXPECT_EQ(n.peers().at(2).until.nothing, instant{});
  pass(3 * n.how().heartbeat_every);
  EXPECT_GT(n.peers().at(2).until.nothing, now);  // now it is taken for lost
}

TEST_F(Protocol, BeatsToManyNeighboursInTurn) {
  for (address who = 10; who < 100; ++who) n.peer_found(now, who, distance::same_site, 0);
  n.tick(now);
  forget();
  std::map<address, unsigned> heard;
  for (unsigned times = 1; times <= 3; ++times) {
    pass(n.how().heartbeat_every);
    EXPECT_LE(network.sent.size(), n.how().neighbours);
    for (const auto& [to, m] : network.sent) ++heard[to];
    forget();
  }
  EXPECT_EQ(heard.size(), 91U);
}

TEST_F(Protocol, AsksWhoLeavesFirstOfThousands) {
  for (address who = 10; who < 3000; ++who) n.peer_found(now, who, distance::far, 0);
  n.receive(now, 2345, {5, 99, me, heartbeat{1, 0, true, {2, 1, 0}, {}}});
  forget();
  n.starving(now, 4, 0);
  ASSERT_EQ(network.sent.size(), 1U);
  EXPECT_EQ(network.sent[0].first, 2345U);
}

TEST(ReachablePeers, AreThoseThatCanBeReached) {
  random_numbers random(1);
  std::map<address, peer> all;
  reachable_peers reachable;
  for (unsigned i = 0; i < 10'000; ++i) {
    peer& p = all[random.below(40)];
    p.how_far = random.below(2) == 0 ? distance::far : distance::same_site;
    p.reachable = random.below(3) != 0;
    p.foreign = random.below(10) == 0;
    for (auto& [who, what] : all) {
      if (&what == &p) reachable.update(who, p);
    }
    std::map<address, const peer*> near, far;
    for (const auto& [who, what] : all) {
      if (what.reachable && !what.foreign)
        (what.how_far == distance::far ? far : near)[who] = &what;
    }
    std::map<address, const peer*> listed_near, listed_far;
    for (const auto& e : reachable.near()) listed_near[e.who] = e.what;
    for (const auto& e : reachable.far()) listed_far[e.who] = e.what;
    ASSERT_EQ(listed_near, near);
    ASSERT_EQ(listed_far, far);
    ASSERT_EQ(reachable.near().size() + reachable.far().size(), near.size() + far.size());
  }
}

}  // namespace
