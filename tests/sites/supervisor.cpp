#include "sites/supervisor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

const endpoint here{{"chiba", "m1"}, "serve-1"}, there{{"kyoto", "m2"}, "serve-2"},
    client{{"kyoto", "m3"}, "client-3"}, stranger{{"osaka", "m4"}, "client-4"};
const std::string job = "00000000000000aa", other = "00000000000000bb";

/// Writes down what a supervisor wants.
struct recorder : supervisor_port {
  std::vector<std::string> did;
  std::vector<std::pair<endpoint, control>> sent;
  std::vector<notice> told;
  bool can_start = true;

  bool start_node(const std::string& j, const words& arguments, const std::string& ask,
                  const machine& root, bool is_root) override {
    std::string line = (is_root ? "root " : "help ") + j.substr(14) + " of " + root.text();
    if (!ask.empty()) line += " asking " + ask;
    for (const auto& a : arguments) line += " " + a;
    did.push_back(can_start ? line : "cannot");
    return can_start;
  }
  void ask_to_leave(const std::string& j) override { did.push_back("leave " + j.substr(14)); }
  void kill(const std::string& j) override { did.push_back("kill " + j.substr(14)); }
  void send(const endpoint& to, const control& m) override { sent.emplace_back(to, m); }
  void tell_all(const control& m) override { told.push_back(std::get<notice>(m)); }
  void say(const std::string&) override {}

  std::vector<std::string> done() { return std::exchange(did, {}); }
  template <class Message>
  std::vector<Message> of() {
    std::vector<Message> all;
    for (const auto& [to, m] : sent)
      if (const auto* one = std::get_if<Message>(&m)) all.push_back(*one);
    sent.clear();
    return all;
  }
};

using steps = std::vector<std::string>;

struct supervised : testing::Test {
  recorder port;
  supervisor server{{here, "queens", "1f", 4}, port};
  moment now{1h};

  void hear(const endpoint& from, const control& m) { server.hear(now, from, m); }
  void pass(std::chrono::milliseconds time, bool submitter_lives = true) {
    for (const moment end = now + time; now < end; now += 250ms) {
      if (submitter_lives && now.time_since_epoch() % 1s == 0ms) hear(client, beat{job, 0});
      server.tick(now);
    }
  }
  void begin() { hear(client, start{job, "1f", {"18"}, 10}); }
  void announce(bool over = false) { hear(there, notice{job, "queens", "1f", {"18"}, over}); }
};

TEST_F(supervised, starts_the_root_once) {
  begin();
  begin();  // its answer was lost
  EXPECT_EQ(port.done(), steps{"root aa of chiba.m1 18"});
  EXPECT_EQ(port.of<alive>().size(), 2u);
}

TEST_F(supervised, passes_on_whom_the_submitter_wants_asked) {
  hear(client, start{job, "1f", {"18"}, 10, "relay-random,8"});
  server.root_joined(now, job);
  ASSERT_EQ(port.told.size(), 1u);
  EXPECT_EQ(port.told[0].ask, "relay-random,8");
  hear(there, notice{other, "queens", "1f", {}, false, "random"});
  hear(there, who{});
  EXPECT_EQ(port.of<notice>().at(0).ask, "relay-random,8");
  EXPECT_EQ(port.done(), (steps{"root aa of chiba.m1 asking relay-random,8 18",
                                "help bb of kyoto.m2 asking random"}));
}

TEST_F(supervised, takes_no_strategy_that_can_be_none) {
  hear(client, start{job, "1f", {}, 10, "random\nLD_PRELOAD=x"});
  hear(there, notice{other, "queens", "1f", {}, false, std::string(100, 'x')});
  EXPECT_EQ(port.done(), steps{});
  EXPECT_EQ(port.of<refusal>().at(0).why, "CLEAVE_ASK is no name of a strategy");
}

TEST_F(supervised, refuses_with_a_reason) {
  port.can_start = false;
  begin();
  hear(client, start{job, "2f", {}, 10});
  hear(client, start{job, "1f", {"--serve", "x"}, 10});
  hear(client, start{job, "1f", {"8", "--trace=/file"}, 10});
  hear(client, start{job, "1f", {"8", std::string("--trace\0", 8), "/file"}, 10});
  hear(client, start{job, "1f", {std::string(30'000, 'x')}, 10});
  hear(client, start{job, "1f", {std::string(6'000, '\1')}, 10});  // six letters each as JSON
  port.can_start = true;
  begin();
  hear(stranger, start{job, "1f", {}, 10});
  hear(stranger, beat{job, 0});
  server.leave(now);
  hear(client, start{other, "1f", {}, 10});
  EXPECT_EQ(port.done(), (steps{"cannot", "root aa of chiba.m1 18"}));
  std::vector<std::string> why;
  for (const auto& r : port.of<refusal>()) why.push_back(r.why);
  EXPECT_EQ(why, (steps{"it cannot start the program", "it offers another program by this name",
                        "--serve, --transport and --trace are no options of a job",
                        "--serve, --transport and --trace are no options of a job",
                        "an argument has a NUL in it", "the arguments are longer than 24 KiB",
                        "the arguments are longer than 24 KiB", "it has a job of this name",
                        "it has no such job", "it leaves"}));
}

TEST_F(supervised, a_job_is_its_submitters) {
  begin();
  port.done();
  hear(stranger, cancel{job});
  EXPECT_EQ(port.done(), steps{});
  hear(client, cancel{job});
  EXPECT_EQ(port.done(), steps{"kill aa"});
}

// A submitter says it until it is answered: it took this server as lost.
TEST_F(supervised, answers_who_cancels_what_it_has_not) {
  hear(client, cancel{job});
  EXPECT_EQ(port.done(), steps{});
  EXPECT_EQ(port.of<refusal>().size(), 1u);
}

TEST_F(supervised, announces_while_the_roots_node_is_there) {
  begin();
  pass(3s);
  EXPECT_TRUE(port.told.empty());
  server.root_joined(now, job);
  pass(3s);
  EXPECT_EQ(port.told.size(), 3u);
  EXPECT_EQ(port.told.back().arguments, words{"18"});
  server.root_left(now, job);
  EXPECT_TRUE(port.told.back().over);
  pass(3s);
  EXPECT_EQ(port.told.size(), 4u);
}

TEST_F(supervised, tells_all_that_the_root_wrote_and_then_its_end) {
  begin();
  server.root_joined(now, job);
  server.wrote(now, job, part::of::output, "92\n");
  server.ended(now, job, {true, 9});
  EXPECT_TRUE(port.told.back().over);
  auto parts = port.of<part>();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].text, "92\n");
  EXPECT_EQ(parts[1].status, 137);

  now += 1s;  // the first one was lost
  hear(client, beat{job, 0});
  EXPECT_EQ(port.of<part>().size(), 2u);
  now += 100ms;  // they are under way
  hear(client, beat{job, 1});
  EXPECT_EQ(port.of<part>().size(), 0u);
  hear(client, beat{job, 2});
  hear(client, beat{job, 2});
  EXPECT_EQ(port.of<refusal>().size(), 1u);  // it is forgotten
}

// One that rests takes nothing: all of it again each second would fill its network.
TEST_F(supervised, sends_one_part_again_to_who_takes_nothing) {
  begin();
  for (int i = 0; i < 10; ++i) server.wrote(now, job, part::of::output, "x");
  port.of<part>();
  for (int i = 0; i < 3; ++i) {
    now += 1s;
    hear(client, beat{job, 0});
    EXPECT_EQ(port.of<part>().size(), i == 0 ? 10u : 1u);
  }
  now += 1s;
  hear(client, beat{job, 1});
  EXPECT_EQ(port.of<part>().size(), 9u);
}

TEST_F(supervised, does_not_read_more_than_its_submitter_takes) {
  begin();
  EXPECT_TRUE(server.wants_output(job));
  server.wrote(now, job, part::of::output, std::string(4u << 20, 'x'));
  EXPECT_FALSE(server.wants_output(job));
  hear(client, beat{job, 1});
  EXPECT_TRUE(server.wants_output(job));
}

TEST_F(supervised, cancels_the_job_of_a_silent_submitter) {
  begin();
  server.root_joined(now, job);
  port.done();
  pass(9s, false);
  EXPECT_EQ(port.done(), steps{});
  EXPECT_LE(server.next(), now + 1s);
  pass(2s, false);
  EXPECT_EQ(port.done(), steps{"kill aa"});
  EXPECT_TRUE(port.told.back().over);
  server.ended(now, job, {true, 9});
  EXPECT_TRUE(port.of<part>().empty());
}

TEST_F(supervised, silence_does_not_count_while_it_is_cut_off_itself) {
  begin();
  hear(there, notice{other, "queens", "1f", {}, false});
  port.done();
  for (int i = 0; i < 4; ++i) {
    pass(9s, false);
    server.cut_off(now);
  }
  EXPECT_EQ(port.done(), steps{});
  pass(11s, false);
  EXPECT_EQ(port.done(), (steps{"kill aa", "kill bb"}));
}

TEST_F(supervised, helps_once_with_a_job_of_its_own_program) {
  hear(there, notice{other, "queens", "2f", {}, false});
  hear(there, notice{other, "fib", "1f", {}, false});
  hear(here, notice{other, "queens", "1f", {}, false});
  EXPECT_EQ(port.done(), steps{});
  announce();
  announce();
  EXPECT_EQ(port.done(), steps{"help aa of kyoto.m2 18"});
  hear(stranger, notice{job, "queens", "1f", {}, true});  // not whose job it is
  EXPECT_EQ(port.done(), steps{});
  announce(true);
  announce(true);
  EXPECT_EQ(port.done(), steps{"kill aa"});
  server.ended(now, job, {true, 9});
  announce();  // one that was late
  EXPECT_EQ(port.done(), steps{"help aa of kyoto.m2 18"});
}

TEST_F(supervised, helps_with_no_job_that_it_would_not_have) {
  hear(there, notice{job, "queens", "1f", {"8", "--trace", "/file"}, false});
  hear(there, notice{job, "queens", "1f", {std::string(30'000, 'x')}, false});
  EXPECT_EQ(port.done(), steps{});
}

TEST_F(supervised, helps_again_when_its_node_has_died) {
  announce();
  server.ended(now, job, {true, 9});
  announce();
  EXPECT_EQ(port.done(), steps{"help aa of kyoto.m2 18"});
  pass(1s);
  EXPECT_EQ(port.done(), steps{});  // nobody has announced it since
  announce();
  EXPECT_EQ(port.done(), steps{"help aa of kyoto.m2 18"});
}

TEST_F(supervised, does_not_try_for_ever) {
  int started = 0;
  for (int i = 0; i < 60; ++i, now += 1s) {
    announce();
    if (port.done().empty()) continue;
    ++started;
    server.ended(now, job, {false, 2});
  }
  EXPECT_EQ(started, 5);
}

TEST_F(supervised, helps_on_where_nodes_are_killed_now_and_then) {
  int started = 0;
  for (int i = 0; i < 20; ++i) {
    announce();
    started += static_cast<int>(port.done().size());
    for (int s = 0; s < 70; ++s) now += 1s, announce();
    server.ended(now, job, {true, 9});
    for (int s = 0; s < 20; ++s) now += 1s, announce();
    started += static_cast<int>(port.done().size());
  }
  EXPECT_GT(started, 15);
}

TEST_F(supervised, a_node_that_comes_back_again_and_again_has_not_failed) {
  int started = 0;
  for (int i = 0; i < 20; ++i, now += 1s) {
    announce();
    started += static_cast<int>(port.done().size());
    server.ended(now, job, {false, 0});
  }
  EXPECT_EQ(started, 20);
}

TEST_F(supervised, ends_its_node_when_the_job_is_not_heard_of) {
  announce();
  port.done();
  pass(9s);
  EXPECT_EQ(port.done(), steps{});
  pass(2s);
  EXPECT_EQ(port.done(), steps{"kill aa"});
  server.ended(now, job, {true, 9});
  EXPECT_EQ(server.next(), moment::max());
}

TEST_F(supervised, leaves_when_its_nodes_have_left) {
  announce();
  port.done();
  server.leave(now);
  EXPECT_EQ(port.done(), steps{"leave aa"});
  hear(there, notice{other, "queens", "1f", {}, false});
  EXPECT_EQ(port.done(), steps{});
  EXPECT_FALSE(server.is_done());
  for (int i = 0; i < 13; ++i, now += 1s) {
    announce();
    server.tick(now);
  }
  EXPECT_EQ(port.done(), steps{"kill aa"});  // it took too long
  server.ended(now, job, {true, 9});
  EXPECT_TRUE(server.is_done());
}

TEST_F(supervised, leaves_when_the_job_that_it_has_the_root_of_is_over) {
  begin();
  port.done();
  server.leave(now);
  pass(60s);
  EXPECT_EQ(port.done(), steps{});
  EXPECT_FALSE(server.is_done());
  server.ended(now, job, {false, 0});
  EXPECT_FALSE(server.is_done());  // its end may be lost
  hear(client, beat{job, 1});
  EXPECT_TRUE(server.is_done());
}

TEST_F(supervised, leaves_at_once_when_told_twice) {
  begin();
  hear(there, notice{other, "queens", "1f", {}, false});
  port.done();
  server.leave(now);
  server.leave(now);
  EXPECT_EQ(port.done(), (steps{"leave bb", "kill bb", "kill aa"}));
  server.ended(now, job, {true, 9});
  server.ended(now, other, {true, 9});
  EXPECT_TRUE(server.is_done());
}

TEST_F(supervised, tells_who_asks_of_its_jobs_at_once) {
  begin();
  hear(there, who{});
  EXPECT_TRUE(port.of<notice>().empty());  // nobody could join it yet
  server.root_joined(now, job);
  hear(there, who{});
  const auto notices = port.of<notice>();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].job, job);
  EXPECT_EQ(notices[0].hash, "1f");
}

TEST_F(supervised, says_what_it_does) {
  begin();
  hear(there, notice{other, "queens", "1f", {"9"}, false});
  now += 5s;
  port.sent.clear();
  server.node_says(job, {true, "", 4, 3, 2, 1});
  server.node_says("00000000000000cc", {true, "", 9, 9, 9, 9});
  hear(stranger, who{});
  const auto offers = port.of<offer>();
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_EQ(offers[0].program, "queens");
  EXPECT_EQ(offers[0].workers, 4u);
  ASSERT_EQ(offers[0].jobs.size(), 2u);
  EXPECT_TRUE(offers[0].jobs[0].is_root);
  EXPECT_EQ(offers[0].jobs[0].seconds, 5u);
  EXPECT_EQ(offers[0].jobs[0].workers, 4u);
  EXPECT_EQ(offers[0].jobs[0].computing, 3u);
  EXPECT_EQ(offers[0].jobs[0].tasks_in, 2u);
  EXPECT_EQ(offers[0].jobs[0].tasks_out, 1u);
  EXPECT_EQ(offers[0].jobs[1].workers, 0u);  // it has not said anything yet
  EXPECT_EQ(offers[0].jobs[1].root, "kyoto.m2");
}

}  // namespace
}  // namespace cleave::net::nats
