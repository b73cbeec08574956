// labels: slow
#include "nats/connection.hpp"
#include "nats/relay.hpp"
#include "sites/control.hpp"
#include "transport/plugin.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace cleave;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using net::address;

constexpr auto long_enough = 60s;

/// Nodes of one job, all in this process, each with a transport of its own.
class nodes : public testing::Test {
protected:
  void SetUp() override {
    if (!tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
    by = std::make_unique<tests::relay>();
  }

  std::unique_ptr<net::transport> open(const std::string& node, const std::string& machine,
                                       const std::string& job = "7") {
    const auto file = folder.path / (machine + "." + std::to_string(++files));
    const auto here = *net::nats::read_machine(machine);
    net::nats::write_access(file, by->machine(here.name, here.site));
    setenv("CLEAVE_KEY", file.c_str(), 1);
    setenv("CLEAVE_JOB", job.c_str(), 1);
    setenv("CLEAVE_NODE", node.c_str(), 1);
    setenv("CLEAVE_ROOT", "here.m0", 1);
    static void* const plugin = dlopen(CLEAVE_BIN_DIR "/../lib/libcleave-nats.so", RTLD_NOW);
    EXPECT_NE(plugin, nullptr) << dlerror();
    const auto make = reinterpret_cast<net::open_function*>(dlsym(plugin, net::open_function_name));
    net::open_failure why;
    std::unique_ptr<net::transport> made(make(net::plugin_version, {}, why));
    EXPECT_NE(made, nullptr) << why.line;
    return made;
  }

  std::unique_ptr<tests::relay> by;
  tests::temporary_folder folder;
  int files = 0;
};

/// Lets all of them do what time asks for until it holds.
bool until(const std::vector<net::transport*>& all, const std::function<bool()>& holds) {
  const auto end = clock_type::now() + long_enough;
  while (!holds()) {
    if (clock_type::now() > end) return false;
    for (net::transport* t : all) t->wait(5ms);
  }
  return true;
}

net::bytes text(const std::string& s) {
  const auto* const at = reinterpret_cast<const std::byte*>(s.data());
  return {at, at + s.size()};
}

/// Meanwhile the others do what is to be done.
std::optional<net::incoming> next(net::transport& t,
                                  const std::vector<net::transport*>& others = {}) {
  const auto end = clock_type::now() + long_enough;
  while (clock_type::now() < end) {
    if (auto m = t.receive(); m && !m->message.empty()) return m;
    t.wait(others.empty() ? 100ms : 1ms);
    for (net::transport* o : others) o->wait(1ms);
  }
  return {};
}

TEST_F(nodes, find_each_other_and_are_lost) {
  const auto root = open("0", "here.m0"), one = open("1f", "here.m1");
  auto two = open("a0", "there.m1");
  const auto other_job = open("b0", "here.m1", "8");
  const std::vector<net::transport*> all{root.get(), one.get(), two.get(), other_job.get()};
  ASSERT_TRUE(until(all, [&] {
    return root->peers().size() == 2 && one->peers().size() == 2 && two->peers().size() == 2;
  }));
  EXPECT_EQ(root->peers(), (std::vector<address>{0x1f, 0xa0}));
  EXPECT_TRUE(other_job->peers().empty());
  EXPECT_EQ(one->how_far(0), net::distance::same_site);
  EXPECT_EQ(one->how_far(0xa0), net::distance::far);
  EXPECT_EQ(two->site(0), two->site(0x1f));
  EXPECT_NE(one->site(0), one->site(0xa0));
  EXPECT_EQ(one->name(0xa0), "node a0 (there.m1)");
  std::vector<address> found;
  while (const auto who = root->found()) found.push_back(*who);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, root->peers());
  EXPECT_FALSE(root->lost());

  two->send(0, text("last"));
  two.reset();
  ASSERT_TRUE(until({root.get(), one.get()}, [&] { return root->peers().size() == 1; }));
  EXPECT_EQ(next(*root)->from, 0xa0u);
  EXPECT_EQ(root->lost(), 0xa0u);
  EXPECT_FALSE(root->found());
  // Nobody had asked for it there yet: it never was, for the driver.
  ASSERT_TRUE(until({one.get()}, [&] { return one->peers().size() == 1; }));
  EXPECT_FALSE(one->lost());
  EXPECT_EQ(one->found(), 0u);
  EXPECT_FALSE(one->found());
}

TEST_F(nodes, send_messages_whole_and_in_order) {
  const auto root = open("0", "here.m0"), one = open("1", "here.m0");
  ASSERT_TRUE(until({root.get(), one.get()},
                    [&] { return !root->peers().empty() && !one->peers().empty(); }));
  EXPECT_EQ(root->how_far(1), net::distance::same_host);
  std::string large(3'000'000, ' ');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i % 251);
  root->send(1, text("first"));
  root->send(1, text(large));
  root->send(1, text("last"));
  root->send(99, text("to nobody"));
  for (const std::string& expected : {std::string("first"), large, std::string("last")}) {
    const auto m = next(*one, {root.get()});
    ASSERT_TRUE(m);
    EXPECT_EQ(m->from, 0u);
    EXPECT_EQ(m->message, text(expected));
  }
  EXPECT_EQ(root->counted().sent, 3u);
  EXPECT_EQ(one->counted().received_bytes, large.size() + 9);
}

TEST_F(nodes, wait_for_no_long_message_to_another) {
  const auto root = open("0", "here.m0"), one = open("1", "here.m1"), two = open("2", "here.m2");
  const std::vector<net::transport*> all{root.get(), one.get(), two.get()};
  ASSERT_TRUE(until(all, [&] { return root->peers().size() == 2; }));
  const std::string large(20'000'000, 'x');
  root->send(1, text(large));
  root->send(1, text("after it"));
  root->send(2, text("short"));
  const auto short_one = next(*two);  // the root does nothing more
  ASSERT_TRUE(short_one);
  EXPECT_EQ(short_one->message, text("short"));
  for (int i = 0; i < 20; ++i) {
    one->wait(10ms);
    while (const auto m = one->receive()) EXPECT_TRUE(m->message.empty()) << "all of it was sent";
  }
  root->send(1, text(large));  // again, as far as the protocol knows
  EXPECT_EQ(next(*one, {root.get()})->message.size(), large.size());
  EXPECT_EQ(next(*one, {root.get()})->message, text("after it"));
  root->send(1, text("last"));
  EXPECT_EQ(next(*one, {root.get()})->message, text("last"));
}

TEST_F(nodes, that_go_have_sent_all_before) {
  auto root = open("0", "here.m0");
  const auto one = open("1", "here.m1");
  ASSERT_TRUE(until({root.get(), one.get()}, [&] { return !root->peers().empty(); }));
  const std::string large(5'000'000, 'x');
  root->send(1, text(large));
  root.reset();
  const auto m = next(*one);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->message.size(), large.size());
}

TEST_F(nodes, one_that_is_killed_is_missed_soon) {
  const auto root = open("0", "here.m0");
  const auto begin = [&](const std::string& node) {
    auto made = std::make_unique<net::nats::connection>(by->machine("m1"), "7-" + node);
    made->tell_all("job.7", net::nats::encode(net::nats::presence{}));
    return made;
  };
  auto one = begin("1"), two = begin("2");
  ASSERT_TRUE(until({root.get()}, [&] { return root->peers().size() == 2; }));
  while (root->found()) {}
  one.reset(), two.reset();
  ASSERT_TRUE(until({root.get()}, [&] {
    root->send(2, text("is anybody there?"));
    return root->peers().size() == 1;
  }));
  EXPECT_EQ(root->lost(), 2u);  // the other one was not asked: it is only silent
  two = begin("2");             // it had only lost its relay
  ASSERT_TRUE(until({root.get()}, [&] { return root->found() == 2u; }));
  ASSERT_TRUE(until({root.get()}, [&] { return root->peers().size() == 1; }));
  EXPECT_EQ(root->lost(), 1u);
}

TEST_F(nodes, answer_a_new_one_directly) {
  const auto root = open("0", "here.m0");
  net::nats::connection one(by->machine("m1"), "7-1");
  one.tell_all("job.7", net::nats::encode(net::nats::presence{}));
  std::optional<net::nats::letter> answer;  // it does not listen to what is told to all
  ASSERT_TRUE(until({root.get()}, [&] { return (answer = one.receive()).has_value(); }));
  EXPECT_EQ(answer->topic, "here");
  EXPECT_EQ(answer->from.process, "7-0");
}

TEST_F(nodes, say_less_often_that_they_are_there_the_more_they_are) {
  const auto root = open("0", "here.m0"), one = open("1f", "here.m1");
  net::nats::connection many(by->machine("m2"), "client-1");
  many.listen("job.7");
  std::vector<std::unique_ptr<net::nats::connection>> others;
  for (char c = 'a'; c <= 'f'; ++c)
    for (char d = 'a'; d <= 'f'; ++d)
      others.push_back(
          std::make_unique<net::nats::connection>(by->machine("m2"), std::string("7-") + c + d));
  // None is silent for so long that it is lost.
  const auto tell = [&] {
    net::nats::presence p;
    p.every = 60'000;
    for (auto& other : others) other->tell_all("job.7", net::nats::encode(p));
  };
  tell();
  unsigned root_says = 0, one_says = 0;
  EXPECT_TRUE(until({root.get(), one.get()}, [&] {
    while (const auto l = many.receive()) {
      net::nats::presence p;
      const std::string content(reinterpret_cast<const char*>(l->content.data()),
                                l->content.size());
      if (net::nats::decode(content, p) != nullptr) continue;
      if (l->from.process == "7-0") root_says = p.every;
      if (l->from.process == "7-1f") one_says = p.every;
    }
    return one->peers().size() == 37 && one_says == 500 * 37 / 16 && root_says != 0;
  }));
  EXPECT_EQ(root_says, 500u);
}

TEST_F(nodes, that_say_it_less_often_are_waited_for_longer) {
  const auto root = open("0", "here.m0");
  net::nats::connection often(by->machine("m1"), "7-1"), seldom(by->machine("m1"), "7-2");
  net::nats::presence p;
  p.every = 60'000;  // four times that
  seldom.tell_all("job.7", net::nats::encode(p));
  ASSERT_TRUE(until({root.get()}, [&] { return root->peers().size() == 1; }));
  p.every = 500;  // three seconds
  // An answer that was sent before that, and comes after it.
  seldom.send({{"here", "m0"}, "7-0"}, "here", net::nats::encode(p));
  often.tell_all("job.7", net::nats::encode(p));
  ASSERT_TRUE(until({root.get()}, [&] { return root->peers().size() == 2; }));
  while (root->found()) {}
  ASSERT_TRUE(until({root.get()}, [&] { return root->peers().size() == 1; }));
  EXPECT_EQ(root->lost(), 1u);
}

/// With the keys of other machines of this job.
TEST_F(nodes, are_those_of_their_own_machine) {
  const auto root = open("0", "here.m0"), one = open("1", "here.m1");
  ASSERT_TRUE(until({root.get(), one.get()},
                    [&] { return !root->peers().empty() && !one->peers().empty(); }));
  net::nats::connection as_root(by->machine("m2"), "7-0"), as_one(by->machine("m2"), "7-1"),
      of_nobody(by->machine("m2"), "serve-1"), right(by->machine("m2"), "7-2");
  net::nats::presence gone;
  gone.here = false;
  const net::nats::endpoint to_one{{"here", "m1"}, "7-1"}, to_root{{"here", "m0"}, "7-0"};
  for (net::nats::connection* from : {&as_root, &as_one, &of_nobody, &right}) {
    from->send(to_one, "m", from->self().text());
    from->send(to_root, "m", from->self().text());
    from->tell_all("job.7", net::nats::encode(gone));
  }
  for (net::transport* t : {one.get(), root.get()}) {
    const auto m = next(*t);
    ASSERT_TRUE(m);
    EXPECT_EQ(m->from, 2u);
    EXPECT_EQ(m->message, text("here.m2.7-2"));
    EXPECT_FALSE(t->receive());
  }
  ASSERT_TRUE(until({root.get(), one.get()}, [&] { return root->peers().size() == 1; }));
  EXPECT_EQ(root->peers().front(), 1u);
  EXPECT_EQ(one->peers().front(), 0u);
}

TEST_F(nodes, take_nobody_on_another_machine_for_the_first_one_before_that_is_heard) {
  const auto one = open("1", "here.m1");
  net::nats::connection as_root(by->machine("m2"), "7-0"), right(by->machine("m2"), "7-2");
  const net::nats::endpoint to_one{{"here", "m1"}, "7-1"};
  as_root.send(to_one, "m", "forged");
  as_root.flush();
  right.send(to_one, "m", "right");
  const auto m = next(*one);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->from, 2u);
  EXPECT_EQ(one->peers(), std::vector<net::address>{2});
}

TEST_F(nodes, wait_for_a_relay_that_is_away_and_lose_nobody) {
  const auto root = open("0", "here.m0"), one = open("1", "here.m1");
  const std::vector<net::transport*> both{root.get(), one.get()};
  ASSERT_TRUE(until(both, [&] { return root->found() == 1u; }));
  ASSERT_TRUE(until(both, [&] { return one->found() == 0u; }));
  by->stop(SIGKILL);
  root->send(1, text("lost"));
  const auto long_away = clock_type::now() + 3500ms;  // longer than silence is borne
  ASSERT_TRUE(until(both, [&] { return clock_type::now() > long_away; }));
  by->start();
  bool arrived = false;
  EXPECT_TRUE(until(both, [&] {
    root->send(1, text("again"));
    while (const auto m = one->receive()) arrived |= m->message == text("again");
    return arrived;
  }));
  EXPECT_FALSE(root->lost());
  EXPECT_FALSE(one->lost());
}

TEST_F(nodes, without_a_first_one_end) {
  const auto one = open("1", "here.m1");
  EXPECT_TRUE(until({one.get()}, [&] { return one->lost() == 0u; }));
}

TEST_F(nodes, a_ring_ends_a_wait) {
  const auto one = open("1", "here.m1");
  const auto start = clock_type::now();
  std::thread other([&] { one->ring(); });
  one->wait(long_enough);
  EXPECT_LT(clock_type::now() - start, long_enough);
  other.join();
}

}  // namespace
