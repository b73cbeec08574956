// Who speaks for other nodes, by itself: here the test's thread is the one that does.
#include "node/other_nodes.hpp"

#include <gtest/gtest.h>
#include <cleave/both.hpp>
#include <cleave/call.hpp>
#include <cleave/poll.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace cleave::detail {
namespace {

using net::other_nodes;

using namespace std::chrono_literals;

int seven() { return 7; }

/// Tries it until it succeeds, once.
template <class Succeeds>
bool soon(Succeeds succeeds) {
  for (const auto end = std::chrono::steady_clock::now() + 20s;;) {
    if (succeeds()) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(100us);
  }
}

/// One worker, which runs a root in the background.
class one_worker : public testing::Test {
protected:
  one_worker() : workers(settings(), nullptr), others(other_nodes::of(workers)) {}
  ~one_worker() override {
    if (caller.joinable()) caller.join();
  }
  static pool::settings settings() {
    pool::settings s;
    s.stack_bytes = std::size_t{16} << 20, s.cpus = 2, s.cutoff = false;
    s.others = other_nodes::maker({.ring = [](void*) noexcept {}});
    return s;
  }
  /// both() gives the second part when somebody asks; the first waits for that, or for `go_on`.
  void begin() {
    caller = std::thread([this] {
      auto work = [this] {
        return both(
                   [this] {
                     cutoff = &here.cutoff;
                     begun = true;
                     while (!go_on) poll();
                     return 1;
                   },
                   cleave::call<seven>())
            .second;
      };
      task_of<closure_task<decltype(work)>> root(
          [&] { return closure_task<decltype(work)>{work}; });
      workers.run(root);
      result = *root.result;
    });
    ASSERT_TRUE(soon([this] { return begun.load(); }));
  }
  other_nodes::gift given() {
    other_nodes::gift g{};
    EXPECT_TRUE(soon([&] { return others.next_given(g); }));
    return g;
  }
  bool all_sleep() {
    for (unsigned i = 0; i < workers.places(); ++i)
      if (!workers.meeting.box(i).is_asleep()) return false;
    return true;
  }
  int end() {
    go_on = true;
    caller.join();
    return result;
  }

  pool workers;
  other_nodes& others;
  std::thread caller;
  std::atomic<bool> begun{false}, go_on{false};
  std::atomic<int> result{0};
  std::atomic<std::uintptr_t>* cutoff = nullptr;  // the worker's
};

TEST_F(one_worker, gives_and_its_task_is_completed) {
  begin();
  others.ask(3, nullptr);
  const other_nodes::gift g = given();
  EXPECT_EQ(g.slot, 3u);
  ASSERT_NE(g.given, nullptr);
  EXPECT_FALSE(others.is_asking(3));
  g.given->execute();
  go_on = true;
  ASSERT_TRUE(soon([this] { return !others.look_for_starving().empty(); }));
  std::this_thread::sleep_for(1ms);  // so that it sleeps until it is told
  others.complete(*g.given);
  EXPECT_EQ(end(), 7);
}

TEST_F(one_worker, runs_what_it_gave_when_it_waits_for_it) {
  begin();
  others.ask(0, nullptr);
  task* const t = given().given;
  ASSERT_NE(t, nullptr);
  go_on = true;
  ASSERT_TRUE(soon([&] {
    for (const auto& who : others.look_for_starving())
      if (who.wanted == t && others.feed(who, *t)) return true;
    return false;
  }));
  EXPECT_EQ(end(), 7);
}

TEST_F(one_worker, sleeps_in_a_join_though_others_ask_for_what_it_does_not_have) {
  begin();
  others.ask(0, nullptr);
  const other_nodes::gift g = given();
  ASSERT_NE(g.given, nullptr);
  g.given->execute();
  go_on = true;
  ASSERT_TRUE(soon([this] { return !others.look_for_starving().empty(); }));
  others.ask(1, nullptr);
  std::this_thread::sleep_for(1ms);  // so that it looks
  EXPECT_TRUE(soon([this] { return all_sleep(); }));
  EXPECT_TRUE(others.withdraw(1));
  others.complete(*g.given);
  EXPECT_EQ(end(), 7);
}

TEST_F(one_worker, withdrawn_is_not_answered) {
  begin();
  others.ask(0, nullptr);
  const bool withdrawn = others.withdraw(0);
  if (!withdrawn) {
    task* const t = given().given;
    t->execute();
    others.complete(*t);
  }
  EXPECT_FALSE(others.is_asking(0));
  EXPECT_EQ(workers.meeting.box(exchange<native>::first_slot).posted(), resting);
  EXPECT_EQ(end(), 7);
  other_nodes::gift g{};
  EXPECT_FALSE(others.next_given(g));
}

/// To insist costs the worker its cutoff: only for a request that nobody has answered.
TEST_F(one_worker, is_left_alone_when_nothing_is_asked) {
  begin();
  cutoff->store(4096);
  others.insist();
  EXPECT_EQ(cutoff->load(), 4096u);
  EXPECT_EQ(end(), 7);
}

}  // namespace
}  // namespace cleave::detail
