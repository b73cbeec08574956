#include "cosched/rank.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

// Ranks are threads here, and MPI is a word for each of them: how many messages it was sent. What
// is real is all of rank, its node and its doorbells.
namespace {

using namespace cleave::cosched;

constexpr int messages = 3'000;

struct job {
  static constexpr unsigned ranks = 3, tests = 2;

  job() {
    auto first = node::make(ranks);
    if (first == nullptr) return;
    for (unsigned i = 1; i < ranks; ++i) rest[i] = node::open(first->name(), ranks);
    first->forget_name();
    rest[0] = std::move(first);
  }
  bool complete() const {
    for (const auto& n : rest)
      if (n == nullptr) return false;
    return true;
  }
  void start(policy by, nanoseconds free_spin) {
    for (unsigned i = 0; i < ranks; ++i)
      of[i].start(std::move(rest[i]), nullptr, i, tests, spin_time(by, 20'000, 20'000, i + 1),
                  free_spin, allowance(), false);
  }

  // MPI_Send and MPI_Recv of one message.
  void send(unsigned me, unsigned to) {
    of[me].begin_call(true);
    of[me].describe({false, static_cast<int>(to), waits_for::anything});
    sent[to].fetch_add(1, std::memory_order_release);
    of[me].end_call(true);
  }
  void receive(unsigned me, int& got, waits_for what = waits_for::message) {
    of[me].begin_call(true);
    of[me].describe({false, rank::nobody, what});
    while (sent[me].load(std::memory_order_acquire) <= got) of[me].found_nothing();
    of[me].found_something();
    ++got;
    of[me].end_call(true);
  }
  counts all() const {
    counts c;
    for (const rank& r : of)
      c.waits += r.counted().waits, c.sleeps += r.counted().sleeps, c.late += r.counted().late,
          c.timeouts += r.counted().timeouts, c.longer += r.counted().longer;
    return c;
  }

  std::array<std::unique_ptr<node>, ranks> rest;
  std::array<rank, ranks> of;
  std::array<std::atomic<int>, ranks> sent{};
};

template <class F>
void on_each(F run) {
  std::array<std::thread, job::ranks> threads;
  for (unsigned i = 0; i < job::ranks; ++i) threads[i] = std::thread([&run, i] { run(i); });
  for (auto& t : threads) t.join();
}

// Not spin: with more ranks than CPUs it takes minutes, which is what all this is about.
class ring : public testing::TestWithParam<policy> {};

// A message goes round: each rank waits until it comes. A lost wake-up would be seen as a wait that
// ended by the net, and take 200 ms.
TEST_P(ring, no_wake_up_is_lost) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(GetParam(), 0);
  on_each([&](unsigned me) {
    for (int got = 0; got < messages;) {
      if (me == 0) j.send(0, 1);
      j.receive(me, got);
      if (me != 0) j.send(me, (me + 1) % job::ranks);
    }
  });
  const counts c = j.all();
  EXPECT_GT(c.waits, 0);
  EXPECT_LE(c.late * 1'000, c.waits);  // who rings may be taken off its CPU before it does
  if (GetParam() == policy::block) { EXPECT_GT(c.sleeps, messages); }
}

// One waits for two that do not wait for each other.
TEST_P(ring, two_send_to_one) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(GetParam(), 0);
  on_each([&](unsigned me) {
    int got = 0;
    for (int i = 0; i < messages / 4; ++i) {
      if (me != 0) {
        j.send(me, 0), j.receive(me, got);
      } else {
        j.receive(0, got), j.receive(0, got, waits_for::anything);
        j.send(0, 1), j.send(0, 2);
      }
    }
  });
  EXPECT_LE(j.all().late * 1'000, j.all().waits);
}

INSTANTIATE_TEST_SUITE_P(policies, ring,
                         testing::Values(policy::block, policy::two_phase, policy::adaptive),
                         [](const auto& p) {
                           const std::string name = name_of(p.param);
                           return name == "two-phase" ? "two_phase" : name;
                         });

bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] == 'S';
}

// Who waits for a message is not woken by what others do besides.
TEST(rank, a_receive_wakes_nobody_who_waits_for_a_message) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  std::atomic<bool> done{false};
  std::atomic<pid_t> id{0};
  std::thread waits([&] {
    id = gettid();
    int got = 0;
    j.receive(0, got);
    done = true;
  });
  const auto call = [&](rank::call what) {
    j.of[1].begin_call(false);
    j.of[1].describe(what);
    j.of[1].end_call(false);
    return j.of[1].counted().rings;
  };
  while (id == 0 || !sleeps(id)) std::this_thread::yield();
  std::int64_t rings = 0;
  for (int i = 0; i < 1'000; ++i)  // as MPI_Irecv does
    rings = call({false, rank::nobody, waits_for::message});
  EXPECT_EQ(rings, 0);
  EXPECT_EQ(call({false, 2, waits_for::anything}), 0) << "a message for another";
  EXPECT_EQ(call({}), 1) << "it was asleep all that time";
  EXPECT_FALSE(done);
  j.send(1, 0);
  waits.join();
}

}  // namespace
