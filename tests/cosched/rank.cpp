#include "cosched/rank.hpp"

#include "machine/on_cpu.hpp"
#include "ranks.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace cleave::cosched;
using namespace cleave::tests;

constexpr int messages = 1'500;

struct job : threads_as_ranks<3> {
  job() : threads_as_ranks({0, 1, 2}) {
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
      of[i].start(std::move(rest[i]), nullptr, i,
                  {tests, spin_time(by, 20'000, 20'000, i + 1), free_spin, allowance(), false});
  }

  void receive(unsigned me, int& got, waits_for what = waits_for::message) {
    threads_as_ranks::receive(me, got, what, [&] { ++looks[me], of[me].found_nothing(); });
  }

  std::array<std::unique_ptr<node>, ranks> rest;
  std::array<std::int64_t, ranks> looks{};  // that have found nothing
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
// ended late, and take 200 ms.
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
                         name_of_test);

TEST(rank, the_last_one_to_end_is_told_so) {
  job j;
  ASSERT_TRUE(j.complete());
  EXPECT_FALSE(j.rest[2]->ends_last());
  EXPECT_FALSE(j.rest[0]->ends_last());
  EXPECT_TRUE(j.rest[1]->ends_last());
}

// Spinning would keep the others from the one CPU that all are on, and a sleep costs more.
TEST(rank, on_one_cpu_ranks_leave_it_to_each_other) {
  for (const policy by : {policy::two_phase, policy::adaptive, policy::block}) {
    job j;
    ASSERT_TRUE(j.complete());
    j.start(by, 0);
    const int cpu = sched_getcpu();
    std::barrier all_there(job::ranks);  // whoever is not may be spun for
    on_each([&](unsigned me) {
      const cleave::machine::on_cpu there(cpu);
      all_there.arrive_and_wait();
      for (int got = 0; got < messages;) {
        if (me == 0) j.send(0, 1);
        j.receive(me, got);
        if (me != 0) j.send(me, (me + 1) % job::ranks);
      }
    });
    const counts c = j.all();
    EXPECT_LE(c.late * 1'000, c.waits);
    if (by == policy::block) {
      EXPECT_EQ(c.yields, 0) << "who asks for it sleeps at once";
    } else {
      // All but one of 64 waits begin so; what else runs there decides whether that is enough.
      // Nobody spins: there is one look more, and those before a sleep. A wait that spins all the
      // same looks some hundred times.
      const std::int64_t begun = c.waits + c.sleeps, not_on_one_cpu_yet = 100, spin = 400;
      EXPECT_GE(c.yields, c.waits - begun / 64 - not_on_one_cpu_yet);
      EXPECT_LE(j.looks[0] + j.looks[1] + j.looks[2],
                begun * (job::tests + 3) + not_on_one_cpu_yet * spin);
      EXPECT_GE(c.sleeps * 200, c.yields) << "Linux can put nobody elsewhere";
    }
  }
}

// Another rank may be ready to run on its CPU, and then needs no more than that.
TEST(rank, leaves_its_cpu_to_others_for_a_while_where_they_outnumber_cpus) {
  for (const policy by : {policy::two_phase, policy::adaptive, policy::block})
    for (const bool outnumber : {false, true}) {
      job j;
      ASSERT_TRUE(j.complete());
      if (outnumber) {
        const cleave::machine::on_cpu there(sched_getcpu());
        j.rest[1]->use_cpus();
      }
      j.start(by, 0);
      std::atomic<pid_t> id{0};
      std::thread waits([&] {
        int got = 0;
        id = gettid();
        j.receive(0, got);
      });
      await_sleep(id);
      j.send(1, 0);
      waits.join();
      const counts c = j.of[0].counted();
      EXPECT_GT(c.sleeps, 0);
      if (outnumber && by != policy::block) {
        EXPECT_GT(c.yields, 0);
        EXPECT_LE(c.yields, 8 * c.waits + 8 * c.sleeps);
      } else {
        EXPECT_EQ(c.yields, 0);
      }
    }
}

TEST(node, ranks_share_cpus_if_there_are_fewer) {
  const cleave::machine::on_cpu there(sched_getcpu());
  for (const unsigned ranks : {1u, 2u}) {
    const auto n = node::make(ranks);
    ASSERT_TRUE(n != nullptr);
    n->forget_name();
    EXPECT_FALSE(n->ranks_share_cpus()) << "nobody has told";
    n->use_cpus();
    EXPECT_EQ(n->ranks_share_cpus(), ranks == 2);
    EXPECT_FALSE(n->waits_on(0, 0)) << "where no other rank waits it may spin";
  }
}

// Aside, a rank spins; those that it sends to may sleep.
TEST(rank, one_that_stands_aside_rings_before_it_waits) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  j.of[1].stand_aside();
  std::atomic<pid_t> id{0};
  constexpr int times = 20;
  std::thread sleeper([&] {
    id = gettid();
    for (int got = 0; got < times;) j.receive(0, got), j.send(0, 1);
  });
  for (int got = 0; got < times; ++got) {
    await_sleep(id);
    j.of[1].begin_call(true);  // as MPI_Sendrecv, or a long MPI_Send
    j.sent[0].fetch_add(1, std::memory_order_release);
    while (j.sent[1].load(std::memory_order_acquire) <= got) {
      j.of[1].found_nothing();
      std::this_thread::yield();
    }
    j.of[1].found_something();
    j.of[1].end_call(true);
  }
  sleeper.join();
  EXPECT_EQ(j.all().late, 0);
}

// Each time that it has found something, the first look that finds nothing is such a moment.
TEST(rank, one_that_stands_aside_rings_in_each_wait_of_a_call) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  j.of[1].stand_aside();
  std::atomic<pid_t> id{0};
  constexpr int times = 10;
  std::thread sleeper([&] {
    id = gettid();
    for (int got = 0; got < times;) j.receive(0, got), j.send(0, 1);
  });
  j.of[1].begin_call(true);
  for (int got = 0; got < times; ++got) {
    await_sleep(id);
    j.sent[0].fetch_add(1, std::memory_order_release);
    j.of[1].found_nothing();
    while (j.sent[1].load(std::memory_order_acquire) <= got) std::this_thread::yield();
    j.of[1].found_something();
  }
  j.of[1].end_call(true);
  sleeper.join();
  EXPECT_LE(j.all().late, 2);  // who rings may be taken off its CPU before it does
}

TEST(rank, a_call_that_was_left_by_a_jump_is_over) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  rank& r = j.of[0];
  const char stack[2] = {};
  r.begin_call(true, &stack[1]);
  r.begin_call(false, &stack[0]);
  r.found_nothing();
  r.begin_call(false, &stack[1]);
  EXPECT_TRUE(r.is_outermost());
  r.begin_call(true, &stack[0]);
  EXPECT_FALSE(r.is_outermost());
  r.end_call(true), r.end_call(false);
  r.begin_call(true, &stack[0]);
  EXPECT_TRUE(r.is_outermost());
  r.end_call(true);
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
  await_sleep(id);
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

// What it sends is waited for now, and the outer call may wait for the answer.
TEST(rank, a_call_within_another_rings_when_it_ends) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  std::atomic<pid_t> id{0};
  std::thread waits([&] {
    id = gettid();
    int got = 0;
    j.receive(0, got);
  });
  await_sleep(id);
  rank& r = j.of[1];
  r.begin_call(true);
  r.describe({false, rank::nobody, waits_for::anything});  // as a collective, which sends nothing
  r.begin_call(false);
  j.sent[0].fetch_add(1, std::memory_order_release);
  r.end_call(false);
  EXPECT_EQ(r.counted().rings, 1);
  waits.join();
  r.end_call(true);
}

// MPI may send for it in a look that seems to have found nothing.
TEST(rank, rings_once_more_before_it_sleeps) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  std::atomic<pid_t> id{0};
  std::thread other([&] {
    id = gettid();
    int got = 0;
    j.receive(0, got), j.send(0, 1);
  });
  rank& r = j.of[1];
  r.begin_call(true);
  r.found_nothing();  // rings for what was done before the call
  await_sleep(id);
  const std::int64_t before = r.counted().rings;
  j.sent[0].fetch_add(1, std::memory_order_release);
  while (r.counted().sleeps == 0) r.found_nothing();
  const std::int64_t rings = r.counted().rings - before;
  r.found_something();
  r.end_call(true);
  other.join();
  EXPECT_TRUE(rings == 1 || j.of[0].counted().timeouts > 0) << rings;
}

TEST(rank, tells_the_waits_of_a_call_apart) {
  job j;
  ASSERT_TRUE(j.complete());
  j.start(policy::block, 0);
  rank& r = j.of[0];
  r.begin_call(true);
  r.found_nothing();  // announces
  j.send(1, 0);
  while (r.counted().sleeps == 0) r.found_nothing();
  r.found_something();
  r.found_nothing();
  r.found_something();
  r.end_call(true);
  EXPECT_EQ(r.counted().slept, 1);
  EXPECT_EQ(r.counted().spun, 1);
}

// Rank 0 of a job that takes turns waits for a message; nobody rings.
struct sleeper : testing::Test {
  static constexpr nanoseconds long_turn = 10'000'000'000;

  void SetUp() override {
    ASSERT_TRUE(j.complete());
    auto place = turn_place::take("/cleave-cosched-turns-test-" + std::to_string(getpid()));
    ASSERT_TRUE(place != nullptr);
    board = &place->board(), number = place->number();
    board->began = now();  // so that nothing is compared again
    j.of[0].take_turns(std::move(place), turns::usual_length, -1, nullptr, 2);
    j.start(policy::block, 0);
  }
  void turn_is(unsigned whose) { board->turn = turn_board::encoded({whose, now() + long_turn}); }
  void begin() {
    thread = std::thread([this] {
      id = gettid();
      j.receive(0, got);
    });
    await_sleep(id);
  }
  /// Returns how many sleeps took the longest time since it began.
  std::int64_t end() {
    board->turn = 0;
    j.send(1, 0);
    thread.join();
    id = 0;
    const std::int64_t all = j.of[0].counted().timeouts;
    return all - std::exchange(before, all);
  }

  job j;
  turn_board* board = nullptr;
  unsigned number = 0;
  int got = 0;
  std::int64_t before = 0;
  std::atomic<pid_t> id{0};
  std::thread thread;
};

// A signal ends a block.
TEST_F(sleeper, gives_up_no_turn_and_ends_no_sleep_at_a_signal) {
  struct sigaction act {};
  act.sa_handler = [](int) {};
  sigaction(SIGUSR1, &act, nullptr);
  turn_is(number);
  const unsigned another = number + 1;
  const nanoseconds since = now();
  begin();
  board->of[another].paused = since + long_turn;
  for (int i = 0; i < 20; ++i) pthread_kill(thread.native_handle(), SIGUSR1), await_sleep(id);
  const bool kept = board->whose() == number;
  if (now() - since < turns::patience / 2) { EXPECT_TRUE(kept); }
  while (board->whose() != another && now() < since + long_turn) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    pthread_kill(thread.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (now() - since < 150'000'000) {
    EXPECT_EQ(end(), 0);
  } else end();
}

// A rank that calls seldom is asked about turns after each call. Between its waits it works.
TEST(rank, earns_its_time_to_spin_between_waits_whatever_it_calls) {
  job j;
  ASSERT_TRUE(j.complete());
  auto place = turn_place::take("/cleave-cosched-turns-test-" + std::to_string(getpid()));
  ASSERT_TRUE(place != nullptr);
  // So that nobody else wants the CPU, as far as it knows.
  place->board().turn = turn_board::encoded({place->number(), now() + sleeper::long_turn});
  place->board().began = now();
  rank& r = j.of[0];
  r.take_turns(std::move(place), turns::usual_length, -1, std::make_unique<turn_watch>([] {}), 2);
  allowance left;
  left.spend(allowance::most + 100'000);
  r.start(std::move(j.rest[0]), nullptr, 0,
          {job::tests, spin_time(policy::two_phase, 20'000, 20'000, 1), 400'000, left, false});
  for (int i = 0; i < 100 && r.counted().longer == 0; ++i) {  // it may lose its CPU as it spins
    constexpr nanoseconds work = 5'000'000;                   // a thirtieth of it is earned
    for (const nanoseconds end = now() + work; now() < end;) r.begin_call(false), r.end_call(false);
    r.begin_call(true);
    for (const nanoseconds end = now() + 100'000; now() < end;) r.found_nothing();
    r.found_something();
    r.end_call(true);
  }
  EXPECT_GT(r.counted().longer, 0);
}

// Whoever has the turn wants the CPU, whatever has been seen of others.
TEST(rank, does_not_spin_for_long_in_anothers_turn) {
  job j;
  ASSERT_TRUE(j.complete());
  auto place = turn_place::take("/cleave-cosched-turns-test-" + std::to_string(getpid()));
  ASSERT_TRUE(place != nullptr);
  turn_board& board = place->board();
  board.turn = turn_board::encoded({place->number() + 1, now() + sleeper::long_turn});
  rank& r = j.of[0];
  r.take_turns(std::move(place), turns::usual_length, -1, nullptr, 2);
  r.start(std::move(j.rest[0]), nullptr, 0,
          {job::tests, spin_time(policy::two_phase, 20'000, 20'000, 1), 400'000,
           allowance::without_limit(), false});
  r.begin_call(true);
  for (int i = 0; i < 10; ++i) {
    for (const nanoseconds end = now() + 50'000; now() < end && r.counted().sleeps == 0;)
      r.found_nothing();
    r.found_something();
  }
  EXPECT_EQ(r.counted().longer, 0);
  board.turn = 0;
  r.end_call(true);
}

}  // namespace
