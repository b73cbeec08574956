// Daemons of a gang in a world of their own: clocks that differ, messages that are late or lost.
#include "gang/peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <queue>
#include <random>
#include <set>

namespace {

using gang::announcement;
using gang::clock_offset;
using gang::heartbeat;
using gang::moment;
using gang::order;
using gang::part;
using gang::peers;
using namespace std::chrono_literals;

class world {
public:
  struct daemon {
    peers::name name;
    std::unique_ptr<peers> state;
    moment ahead{};  // of its clock
    std::vector<part> parts;
    moment due{};  // in its own time
    bool alive = true;
    std::set<std::string> killed;
    moment last_start{};
    std::string last_job;
  };

  world(unsigned nodes, moment delay, double loss, unsigned seed)
      : delay_(delay), loss_(loss), random_(seed) {
    for (unsigned i = 0; i < nodes; ++i) begin(std::string(1, static_cast<char>('a' + i)));
  }

  std::size_t begin(const std::string& name) {
    daemon d;
    d.name = {name, "gang-" + std::to_string(daemons.size())};
    d.state = std::make_unique<peers>(d.name, 100ms);
    d.ahead = moment(static_cast<std::int64_t>(random_() % 1'000'000'000'000));
    d.state->set_joined(now + d.ahead, true);
    daemons.push_back(std::move(d));
    return daemons.size() - 1;
  }

  void cut(std::size_t i, bool off) {
    cut_off.erase(i);
    if (off) cut_off.insert(i);
  }

  void run_until(moment end) {
    for (; now < end; now += 1ms) {
      while (!letters_.empty() && letters_.top().at <= now) {
        const letter l = letters_.top();
        letters_.pop();
        daemon& to = daemons[l.to];
        if (!to.alive || cut_off.count(l.from) || cut_off.count(l.to)) continue;
        const moment t = now + to.ahead;
        if (const auto h = gang::decode_heartbeat(l.text))
          to.state->hear(t, daemons[l.from].name, *h);
        else if (const auto a = gang::decode_announcement(l.text))
          to.state->hear(t, daemons[l.from].name, *a, offset(l.to));
        to.due = t;
      }
      for (std::size_t i = 0; i < daemons.size(); ++i)
        if (daemons[i].alive) step(i);
      look();
    }
  }

  // Which of its jobs run there now.
  std::vector<std::string> running(std::size_t i) const {
    std::vector<std::string> all;
    const daemon& d = daemons[i];
    const auto* turn = d.state->announced().at(now + d.ahead);
    for (const part& p : d.parts)
      if (turn != nullptr && turn->has(p.id()) && !p.paused) all.push_back(p.job);
    return all;
  }

  std::vector<daemon> daemons;
  std::set<std::size_t> cut_off;
  moment now = 100s;
  // Since it was cleared: how long each job has run where; when jobs of several nodes differed.
  std::map<std::pair<std::size_t, std::string>, moment> ran;
  moment out_of_step{}, two_at_once{}, idle{};

private:
  struct letter {
    moment at;
    std::size_t from, to;
    std::string text;
    bool operator<(const letter& other) const { return at > other.at; }
  };

  // As pings would find it.
  std::optional<clock_offset::estimate> offset(std::size_t i) {
    const daemon& d = daemons[i];
    for (const daemon& other : daemons)
      if (other.name == d.state->leader())
        return clock_offset::estimate{other.ahead - d.ahead, 0ms, 2 * delay_ + 1ms};
    return std::nullopt;
  }

  void step(std::size_t i) {
    daemon& d = daemons[i];
    const moment t = now + d.ahead;
    if (t < d.due) return;
    d.state->set_parts(d.parts);
    d.due = d.state->step(t, offset(i));
    for (const order& o : d.state->take_orders())
      for (part& p : d.parts) {
        if (p.job != o.job || p.user != o.user) continue;
        if (o.what == "kill") d.killed.insert(p.job);
        else if (o.version > p.version) p.paused = o.what == "pause", p.version = o.version;
        d.due = t;
      }
    if (const auto h = d.state->say_heartbeat()) send(i, gang::encode(*h));
    if (const auto a = d.state->say_announcement()) send(i, gang::encode(*a));
  }

  void send(std::size_t from, const std::string& text) {
    ASSERT_LE(text.size(), 32u << 10);
    for (std::size_t to = 0; to < daemons.size(); ++to) {
      if (to == from || static_cast<double>(random_() % 1'000'000) < loss_ * 1e6) continue;
      letters_.push({now + delay_ + moment(random_() % 1'000'000), from, to, text});
    }
  }

  void look() {
    std::map<std::string, std::set<bool>> states;
    for (std::size_t i = 0; i < daemons.size(); ++i) {
      if (!daemons[i].alive) continue;
      const auto jobs = running(i);
      for (const auto& job : jobs) ran[{i, job}] += 1ms;
      if (jobs.size() > 1) two_at_once += 1ms;
      if (jobs.empty() && !daemons[i].parts.empty()) idle += 1ms;
      for (const part& p : daemons[i].parts)
        states[p.job].insert(std::find(jobs.begin(), jobs.end(), p.job) != jobs.end());
    }
    if (std::any_of(states.begin(), states.end(),
                    [](const auto& s) { return s.second.size() > 1; }))
      out_of_step += 1ms;
  }

  const moment delay_;
  const double loss_;
  std::mt19937 random_;
  std::priority_queue<letter> letters_;
};

void clear(world& w) { w.ran.clear(), w.out_of_step = w.two_at_once = w.idle = 0ms; }

void queue(world& w, const std::string& job, const std::vector<std::size_t>& nodes) {
  for (const std::size_t i : nodes) {
    w.daemons[i].parts.push_back({"alice", job, "./app"});
    w.daemons[i].due = {};
  }
}

struct conditions {
  moment delay;
  double loss;
};
class gang_of : public testing::TestWithParam<conditions> {};
INSTANTIATE_TEST_SUITE_P(all, gang_of,
                         testing::Values(conditions{500us, 0}, conditions{20ms, 0},
                                         conditions{40ms, 0.02}));

// Jobs on the same nodes take turns together, and nearly all of the time one runs.
TEST_P(gang_of, three_keeps_step) {
  world w(3, GetParam().delay, GetParam().loss, 1);
  w.run_until(102s);
  queue(w, "x", {0, 1, 2}), queue(w, "y", {0, 1, 2}), queue(w, "z", {1});
  w.run_until(104s);
  clear(w);
  w.run_until(124s);
  for (const auto& d : w.daemons) EXPECT_EQ(d.state->leader(), w.daemons[0].name);
  for (const std::size_t node : {0u, 1u, 2u})
    for (const char* job : {"x", "y"}) {
      const moment share = w.ran[{node, job}];
      EXPECT_GT(share, 5s) << node << job;
    }
  EXPECT_GT((w.ran[{1, "z"}]), 5s);
  EXPECT_LE(w.two_at_once, 0ms);
  // Of some 200 turns: their rounding, and one that was lost twice.
  EXPECT_LE(w.out_of_step, GetParam().loss > 0 ? 1500ms : 250ms);
}

// Jobs that share no node run at the same time.
TEST_P(gang_of, two_do_not_wait_for_each_other) {
  world w(2, GetParam().delay, GetParam().loss, 2);
  w.run_until(102s);
  queue(w, "x", {0}), queue(w, "y", {1});
  w.run_until(103s);
  clear(w);
  w.run_until(108s);
  EXPECT_GE((w.ran[{0, "x"}]), 4990ms);
  EXPECT_GE((w.ran[{1, "y"}]), 4990ms);
}

// The leader dies: the next one leads within two seconds, and everything goes on.
TEST_P(gang_of, three_loses_its_leader) {
  world w(3, GetParam().delay, GetParam().loss, 3);
  w.run_until(102s);
  queue(w, "x", {1, 2}), queue(w, "y", {0, 1, 2});
  w.run_until(104s);
  w.daemons[0].alive = false;
  w.run_until(106s);
  clear(w);
  w.run_until(116s);
  EXPECT_EQ(w.daemons[1].state->leader(), w.daemons[1].name);
  EXPECT_EQ(w.daemons[2].state->leader(), w.daemons[1].name);
  for (const std::size_t node : {1u, 2u})
    for (const char* job : {"x", "y"}) EXPECT_GT((w.ran[{node, job}]), 4s) << node << job;
  EXPECT_LE(w.out_of_step, GetParam().loss > 0 ? 1000ms : 150ms);
  // It comes back, as another process, and leads again without a stop.
  const std::size_t back = w.begin("a");
  clear(w);
  w.run_until(126s);
  EXPECT_EQ(w.daemons[2].state->leader(), w.daemons[back].name);
  for (const std::size_t node : {1u, 2u})
    for (const char* job : {"x", "y"}) EXPECT_GT((w.ran[{node, job}]), 4s) << node << job;
  EXPECT_LE(w.idle, 500ms);
}

// A job that is alone runs on when one leads who has led before: what that one said then is over.
TEST_P(gang_of, two_are_led_by_one_that_led_before) {
  world w(2, GetParam().delay, GetParam().loss, 6);
  w.run_until(102s);
  queue(w, "x", {0, 1});
  w.run_until(103s);
  for (auto& d : w.daemons) d.parts.clear(), d.due = {};
  w.run_until(104s);
  const std::size_t first = w.begin("0");
  w.run_until(107s);
  queue(w, "y", {0, 1});
  w.run_until(109s);
  for (const auto& d : w.daemons) ASSERT_EQ(d.state->leader(), w.daemons[first].name);
  clear(w);
  w.daemons[first].alive = false;
  w.run_until(113s);
  EXPECT_EQ(w.daemons[1].state->leader(), w.daemons[0].name);
  for (const std::size_t node : {0u, 1u}) EXPECT_GE((w.ran[{node, "y"}]), 3990ms) << node;
}

// Whoever takes over says whose turn it is to those who come later, too.
TEST_P(gang_of, two_are_led_by_one_that_never_led) {
  world w(1, GetParam().delay, GetParam().loss, 7);
  const std::size_t first = w.begin("0");
  w.run_until(102s);
  queue(w, "y", {0});
  w.run_until(104s);
  ASSERT_EQ(w.daemons[0].state->leader(), w.daemons[first].name);
  w.daemons[first].alive = false;
  w.run_until(107s);
  const std::size_t later = w.begin("z");
  w.run_until(109s);
  queue(w, "y", {later});
  w.run_until(110s);
  clear(w);
  w.run_until(112s);
  for (const std::size_t node : {std::size_t{0}, later})
    EXPECT_GE((w.ran[{node, "y"}]), 1990ms) << node;
}

// Whoever is cut off goes on by itself, and keeps step again afterwards.
TEST_P(gang_of, three_is_parted) {
  world w(3, GetParam().delay, GetParam().loss, 4);
  w.run_until(102s);
  queue(w, "x", {0, 1, 2}), queue(w, "y", {0, 1, 2});
  w.run_until(104s);
  w.cut(0, true), w.cut(2, true);
  w.run_until(106s);
  clear(w);
  w.run_until(110s);
  for (const std::size_t node : {0u, 1u, 2u})
    for (const char* job : {"x", "y"}) EXPECT_GT((w.ran[{node, job}]), 1700ms) << node << job;
  w.cut(0, false), w.cut(2, false);
  w.run_until(113s);
  clear(w);
  w.run_until(123s);
  for (const auto& d : w.daemons) EXPECT_EQ(d.state->leader(), w.daemons[0].name);
  EXPECT_LE(w.out_of_step, GetParam().loss > 0 ? 1000ms : 150ms);
}

// A leader that does not hear a node cannot keep its jobs from running.
TEST(peers, do_not_follow_who_does_not_count_them_in) {
  peers b({"b", "gang-b"}, 100ms);
  b.set_parts({{"alice", "x", "./app"}});
  b.set_joined(100s, true);
  heartbeat leader;
  leader.may_lead = true;
  const peers::name a{"a", "gang-a"};
  for (moment t = 100s; t < 104s; t += 10ms) {
    b.hear(t, a, leader);
    b.hear(t, a, announcement{{"gang-c"}, {{1, t, {}}}}, clock_offset::estimate{});
    b.step(t, std::nullopt);
    if (t > 102s) {
      ASSERT_TRUE(b.leads());
      ASSERT_NE(b.announced().at(t), nullptr);
      ASSERT_TRUE(b.announced().at(t)->has(part{"alice", "x", ""}.id()));
    }
  }
}

// What a user asks of one daemon reaches the parts on other nodes, also if messages are lost.
TEST_P(gang_of, three_obeys) {
  world w(3, GetParam().delay, std::max(GetParam().loss, 0.3), 5);
  w.run_until(102s);
  queue(w, "x", {1, 2}), queue(w, "y", {1, 2});
  w.run_until(104s);
  w.daemons[0].state->add_order(w.now + w.daemons[0].ahead, {0, "pause", "x", "alice", "alice", 1});
  w.daemons[0].due = {};
  w.run_until(107s);
  clear(w);
  w.run_until(108s);
  EXPECT_EQ(w.ran.count({1, "x"}) + w.ran.count({2, "x"}), 0u);
  EXPECT_GT((w.ran[{1, "y"}]), 900ms);
  queue(w, "x", {0});  // a part that comes when nobody says the order any more
  w.run_until(110s);
  clear(w);
  w.run_until(111s);
  EXPECT_EQ(w.ran.count({0, "x"}), 0u);
  w.daemons[2].state->add_order(w.now + w.daemons[2].ahead, {0, "kill", "x", "alice", "alice", 0});
  w.daemons[2].due = {};
  w.run_until(114s);
  for (const std::size_t node : {0u, 1u}) EXPECT_TRUE(w.daemons[node].killed.count("x")) << node;
}

// An order is obeyed once, though who says it was not heard for a while.
TEST(peers, obey_an_order_once) {
  peers b({"b", "gang-b"}, 100ms);
  b.set_joined(100s, true);
  const peers::name a{"a", "gang-a"};
  heartbeat said;
  said.orders = {{1, "kill", "x", "alice", "alice", 1}};
  b.hear(100s, a, said);
  EXPECT_EQ(b.take_orders().size(), 1u);
  b.gone(a);
  b.hear(100s + 10ms, a, said);
  EXPECT_TRUE(b.take_orders().empty());
  b.step(102s, std::nullopt);
  EXPECT_EQ(b.nodes().size(), 1u);
  b.hear(102s, a, said);
  EXPECT_TRUE(b.take_orders().empty());
  said.orders.push_back({2, "kill", "x", "alice", "alice", 1});
  b.hear(102s, a, said);
  EXPECT_EQ(b.take_orders().size(), 1u);
  b.hear(102s, {"c", "gang-c"}, said);  // another's numbers are its own
  EXPECT_EQ(b.take_orders().size(), 2u);
}

// Of parts that differ, the newer word holds, wherever it was said.
TEST(peers, believe_the_newer_word) {
  for (const bool newer_paused : {false, true})
    for (const char* machine : {"a", "c"}) {
      peers b({"b", "gang-b"}, 100ms);
      b.set_joined(100s, true);
      b.set_parts({{"alice", "x", "./app", !newer_paused, 3}});
      heartbeat other;
      other.parts = {{"alice", "x", "./app", newer_paused, 4}};
      b.hear(101s, {machine, "gang-other"}, other);
      b.step(101s, std::nullopt);
      ASSERT_EQ(b.jobs().size(), 1u);
      EXPECT_EQ(b.jobs()[0].paused, newer_paused);
      const auto orders = b.take_orders();
      ASSERT_EQ(orders.size(), 1u);
      EXPECT_EQ(orders[0].what, newer_paused ? "pause" : "resume");
      EXPECT_EQ(orders[0].version, 4u);
      other.parts[0].paused = !newer_paused, other.parts[0].version = 2;
      b.set_parts({{"alice", "x", "./app", newer_paused, 4}});
      b.hear(101s, {machine, "gang-other"}, other);  // it has not heard of it yet
      EXPECT_EQ(b.jobs()[0].paused, newer_paused);
      EXPECT_TRUE(b.take_orders().empty());
      other.parts[0].version = 4;  // as new as its own: neither is told to change
      b.hear(101s, {machine, "gang-other"}, other);
      EXPECT_TRUE(b.take_orders().empty());
      other.parts[0].user = "mallory";  // another job, whatever its name
      other.parts[0].version = 5;
      b.hear(102s, {machine, "gang-other"}, other);
      EXPECT_TRUE(b.take_orders().empty());
      EXPECT_EQ(b.jobs().size(), 2u);
    }
}

// On other nodes it is what a launcher has started there.
TEST(peers, show_the_command_that_began_the_job) {
  for (const bool here_began : {true, false}) {
    peers a({"a", "gang-a"}, 100ms);
    a.set_joined(100s, true);
    const std::string name = here_began ? "a.1" : "b.1";
    const part began{"alice", name, "mpirun", false, 0}, launched{"alice", name, "orted", false, 0};
    a.set_parts({here_began ? began : launched});
    heartbeat other;
    other.parts = {here_began ? launched : began};
    a.hear(101s, {"b", "gang-b"}, other);
    ASSERT_EQ(a.jobs().size(), 1u);
    EXPECT_EQ(a.jobs()[0].command, "mpirun");
  }
}

// Whoever takes over goes on with whose turn it is: nobody is stopped for that.
TEST(peers, take_over_in_the_middle_of_a_turn) {
  for (const char* runs : {"x", "y"}) {
    peers b({"b", "gang-b"}, 100ms);
    b.set_parts({{"alice", "x", "./app"}, {"alice", "y", "./app"}});
    b.set_joined(100s, true);
    heartbeat leader;
    leader.may_lead = true;
    const peers::name a{"a", "gang-a"};
    b.hear(101s, a, leader);
    b.step(101s, std::nullopt);
    const gang::job_id id = part{"alice", runs, ""}.id();
    b.hear(101s, a, announcement{{"gang-b"}, {{7, 101s, {id}}}}, clock_offset::estimate{});
    b.gone(a);
    b.step(101s + 1ms, std::nullopt);
    EXPECT_TRUE(b.leads());
    for (moment t = 101s + 1ms; t < 101s + 90ms; t += 10ms) {
      b.step(t, std::nullopt);
      ASSERT_TRUE(b.announced().at(t)->has(id)) << runs;
    }
    b.step(101s + 150ms, std::nullopt);
    EXPECT_FALSE(b.announced().at(101s + 150ms)->has(id)) << runs;
  }
}

// Each announcement tells the last turns again, in their order.
TEST(peers, tell_the_last_turns_again) {
  peers a({"a", "gang-a"}, 100ms);
  a.set_joined(100s, true);
  a.set_parts({{"alice", "x", "./app"}, {"alice", "y", "./app"}});
  std::optional<announcement> last;
  for (moment t = 100s; t < 102s; t += 10ms) {
    a.hear(t, {"b", "gang-b"}, heartbeat{});
    a.step(t, std::nullopt);
    if (auto said = a.say_announcement()) last = std::move(said);
  }
  ASSERT_TRUE(last);
  EXPECT_EQ(last->led, std::vector<std::string>{"gang-b"});
  ASSERT_GE(last->turns.size(), 4u);
  for (std::size_t i = 1; i < last->turns.size(); ++i) {
    EXPECT_EQ(last->turns[i].number, last->turns[i - 1].number + 1);
    EXPECT_GT(last->turns[i].at, last->turns[i - 1].at);
    EXPECT_NE(last->turns[i].jobs, last->turns[i - 1].jobs);
  }
}

// Where messages take long, turns are longer than their user has said: few are on their way.
TEST(peers, give_turns_as_long_as_messages_allow) {
  peers a({"a", "gang-a"}, 1ms);
  a.set_joined(100s, true);
  a.set_parts({{"alice", "x", "./app"}, {"alice", "y", "./app"}});
  heartbeat far;
  far.round_trip_us = 390'000;
  std::set<std::uint64_t> turns;
  for (moment t = 100s; t < 103s; t += 1ms) {
    a.hear(t, {"b", "gang-b"}, far);
    a.step(t, std::nullopt);
    const auto said = a.say_announcement();
    if (t < 102s || !said) continue;
    for (const auto& turn : said->turns) turns.insert(turn.number);
  }
  EXPECT_GE(turns.size(), 7u);
  EXPECT_LE(turns.size(), 16u);  // one in 130 ms, and those that are told again
}

// Whoever leads anew tells of the turn that the last leader gave, and of none from before.
TEST(peers, tell_no_turns_of_when_they_led_before) {
  peers b({"b", "gang-b"}, 100ms);
  b.set_joined(100s, true);
  b.set_parts({{"alice", "x", "./app"}, {"alice", "y", "./app"}});
  const peers::name a{"a", "gang-a"}, c{"c", "gang-c"};
  heartbeat leader;
  leader.may_lead = true;
  std::optional<announcement> said;
  const auto run = [&](moment from, moment to) {
    for (moment t = from; t < to; t += 10ms) {
      b.hear(t, c, heartbeat{});
      b.step(t, std::nullopt);
      if (auto s = b.say_announcement()) said = std::move(s);
    }
  };
  run(100s, 102s);
  ASSERT_TRUE(said && !said->turns.empty());
  b.hear(102s, a, leader);
  b.step(102s, std::nullopt);
  ASSERT_FALSE(b.leads());
  b.hear(102s, a, announcement{{"gang-b"}, {{1, 102s, {}}}}, clock_offset::estimate{});
  b.gone(a);
  said.reset();
  b.hear(102s, c, heartbeat{});
  b.step(102s, std::nullopt);
  said = b.say_announcement();
  ASSERT_TRUE(b.leads() && said);
  for (const auto& turn : said->turns) EXPECT_GE(turn.at, 102s);
}

// A new one listens before it leads, though it is the first by name.
TEST(peers, listen_before_they_lead) {
  peers a({"a", "gang-a"}, 100ms);
  a.set_joined(100s, true);
  heartbeat leader;
  leader.may_lead = true;
  for (moment t = 100s; t < 100s + 500ms; t += 50ms) {
    a.hear(t, {"b", "gang-b"}, leader);
    a.step(t, std::nullopt);
    EXPECT_FALSE(a.leads());
    const auto h = a.say_heartbeat();
    EXPECT_FALSE(h && h->may_lead);
  }
  for (moment t = 100s + 500ms; t < 101s; t += 50ms)
    a.hear(t, {"b", "gang-b"}, leader), a.step(t, std::nullopt);
  EXPECT_TRUE(a.leads());
}

// Whoever is silent is not there: neither it nor its jobs.
TEST(peers, forget_who_is_silent) {
  peers b({"b", "gang-b"}, 100ms);
  b.set_joined(100s, true);
  heartbeat other;
  other.parts = {{"alice", "x", "./app"}};
  b.hear(100s, {"a", "gang-a"}, other);
  EXPECT_EQ(b.jobs().size(), 1u);
  const moment next = b.step(100s, std::nullopt);
  EXPECT_LE(next, 101s + 1ms);
  b.step(101s + 1ms, std::nullopt);
  EXPECT_TRUE(b.jobs().empty());
  EXPECT_EQ(b.nodes().size(), 1u);
}

// What can be said at most fits into one message, and what is none is not understood.
TEST(messages, are_bounded) {
  heartbeat h;
  for (std::size_t i = 0; i < gang::most_parts; ++i)
    h.parts.push_back({std::string(32, 'u'), std::string(80, 'j'),
                       gang::shortened(std::string(200, '"')), true, gang::most_version});
  for (std::size_t i = 0; i < gang::most_orders; ++i)
    h.orders.push_back({~0ull, "resume", std::string(80, 'j'), std::string(32, 'u'),
                        std::string(32, 'u'), gang::most_version});
  const std::string text = gang::encode(h);
  EXPECT_LE(text.size(), 32u << 10);
  const auto read = gang::decode_heartbeat(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->parts, h.parts);
  EXPECT_FALSE(gang::decode_announcement(text));
  h.parts.push_back(h.parts.back());
  EXPECT_FALSE(gang::decode_heartbeat(gang::encode(h)));
  announcement many{{}, {{1, 1s, {gang::round_robin::most_together, "x"}}}};
  EXPECT_TRUE(gang::decode_announcement(gang::encode(many)));
  many.turns[0].jobs.emplace_back("x");
  EXPECT_FALSE(gang::decode_announcement(gang::encode(many)));
  for (std::size_t size = 0; size < text.size(); size += 97)
    EXPECT_FALSE(gang::decode_heartbeat(text.substr(0, size)));
  for (const char* wrong : {"", "[]", "{}", R"({"gang":2})", R"({"gang":1,"led":[1],"turns":[]})",
                            R"({"gang":1,"led":[],"turns":[{"n":1,"at":-5,"jobs":[]}]})",
                            R"({"gang":1,"led":[],"turns":[{"n":1,"at":9e300,"jobs":[]}]})"})
    EXPECT_FALSE(gang::decode_announcement(wrong)) << wrong;
}

// What `ps` prints of others is text, and a version has a next one.
TEST(messages, are_of_names_that_can_be_printed) {
  const auto understood = [](const part& p, const order& o) {
    heartbeat h;
    h.parts = {p};
    h.orders = {o};
    return gang::decode_heartbeat(gang::encode(h)).has_value();
  };
  const part p{"alice", "x", "./app 'a b'"};
  const order o{1, "pause", "x", "alice", "root", 1};
  ASSERT_TRUE(understood(p, o));
  for (const char* bad : {"\033[2J", "a\nb", "\177", "\302\233A", "\t"}) {
    for (auto field : {&part::user, &part::job, &part::command}) {
      part wrong = p;
      wrong.*field = bad;
      EXPECT_FALSE(understood(wrong, o)) << bad;
    }
    for (auto field : {&order::what, &order::job, &order::user, &order::by}) {
      order wrong = o;
      wrong.*field = bad;
      EXPECT_FALSE(understood(p, wrong)) << bad;
    }
  }
  EXPECT_FALSE(understood({"alice", "x y", "./app"}, o));
  EXPECT_FALSE(understood({"alice", "", "./app"}, o));
  for (const std::uint64_t version : {gang::most_version + 1, ~std::uint64_t{0}}) {
    EXPECT_FALSE(understood({"alice", "x", "./app", true, version}, o));
    EXPECT_FALSE(understood(p, {1, "pause", "x", "alice", "root", version}));
  }
}

}  // namespace
