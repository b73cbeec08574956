// The thread that calls run() is a worker for as long as that lasts.
#include "core/guest.hpp"

#include "core/asker.hpp"
#include "core/requests.hpp"
#include "core/run_habits.hpp"

#include <cleave/detail/clock.hpp>

#include <atomic>
#include <cfenv>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

class guest_with : public testing::TestWithParam<int> {
protected:
  runtime rt{options{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, guest_with, testing::Values(1, 2, 8),
                         testing::PrintToStringParamName());

long divided_sum(int n) {
  return sum(0, n, [](int i) {
    disturb(static_cast<std::uint64_t>(i));
    return i;
  });
}

TEST_P(guest_with, sees_the_thread_locals_of_its_caller) {
  static thread_local int own = 0;
  own = 7;
  rt.run([] { ++own; });
  EXPECT_EQ(own, 8);
}

TEST_P(guest_with, leaves_its_thread_as_it_was) {
  std::thread([this] {
    const auto cutoff = detail::here.cutoff.load();
    EXPECT_EQ(cutoff, ~std::uintptr_t{0});
    EXPECT_EQ(rt.run([] { return divided_sum(2000); }), 1'999'000);
    EXPECT_EQ(detail::here.self, nullptr);
    EXPECT_EQ(detail::here.innermost, nullptr);
    EXPECT_EQ(detail::here.current, nullptr);
    EXPECT_EQ(detail::here.word.load(), 0u);
    EXPECT_EQ(detail::here.cutoff.load(), cutoff);
  }).join();
}

TEST_P(guest_with, computes_in_a_floating_point_environment_that_it_takes_along) {
  rt.run([] { std::fesetround(FE_DOWNWARD); });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

/// Nobody gives away what the thread has begun outside: no worker could wait for it. After a
/// cancellation constructs have frames there too.
TEST(guest, gives_nothing_of_what_is_around_the_run) {
  runtime rt(options{.workers = 1});
  detail::here.cutoff = 0;
  cancel_scope scope;
  EXPECT_TRUE(scope.run([&rt] {
    both(
        [&rt] {
          const detail::frame* const around = detail::here.innermost;
          EXPECT_EQ(around->type().role, detail::frame_role::work);
          rt.run([] {
            asker other(1);
            other.ask();
            poll();
            EXPECT_FALSE(other.is_answered());
          });
          EXPECT_EQ(detail::here.innermost, around);
        },
        [] {});
  }));
}

TEST_P(guest_with, is_cancelled_by_a_scope_around_the_run) {
  bool ran = false;
  cancel_scope around;
  around.run([&] {
    around.cancel();
    rt.run([&] { ran = true; });
  });
  EXPECT_FALSE(ran);
  EXPECT_EQ(rt.run([] { return 3; }), 3);
}

TEST_P(guest_with, passes_on_what_is_thrown) {
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(rt.run([] {
      each(0, 100, [](int i) {
        disturb(static_cast<std::uint64_t>(i));
        if (i == 70) throw std::runtime_error("70");
      });
    }),
                 std::runtime_error);
  }
}

/// Tasks of a group that is made outside stay when the run ends, and others run them.
TEST_P(guest_with, leaves_tasks_of_a_group_around_the_run) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    task_group g;
    rt.run([&] {
      for (int i = 0; i < 10; ++i) g.spawn([&ran] { ++ran; });
    });
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(ran, 10);
  }
}

/// Whoever has rung a guest may be late: then the thread is gone.
TEST_P(guest_with, is_one_thread_after_the_other) {
  for (int round = 0; round < 30; ++round) {
    std::thread([this] { EXPECT_EQ(rt.run([] { return divided_sum(500); }), 124'750); }).join();
  }
}

TEST_P(guest_with, is_one_thread_at_a_time) {
  std::vector<std::thread> callers;
  for (int c = 0; c < 5; ++c) {
    callers.emplace_back([this] {
      for (int round = 0; round < 40; ++round) {
        ASSERT_EQ(rt.run([] { return divided_sum(200); }), 19'900);
        if (round % 8 == 0) std::this_thread::yield();
      }
    });
  }
  for (auto& c : callers) c.join();
}

/// No more compute than there are workers, and no fewer once the guest has left.
TEST(guest, has_a_worker_sit_out) {
  runtime rt(options{.workers = 2});
  std::atomic<bool> second_began{false}, may_end{false};
  std::atomic<int> most{0};
  std::thread second;
  rt.run([&] {
    second = std::thread([&] {
      rt.run([&] {
        second_began = true;
        // The second half needs another thread: the one that has sat out.
        std::atomic<int> there{0};
        each(0, 2, [&](int) {
          for (++there; there < 2 || !may_end; std::this_thread::yield()) poll();
        });
      });
    });
    while (!second_began) std::this_thread::yield();
    const detail::pool& all = detail::here.self->of;
    for (int k = 0; k < 50; ++k) {
      most = std::max<int>(most, static_cast<int>(all.meeting.computing.count()));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  may_end = true;
  second.join();
  EXPECT_EQ(most, 2);
}

/// A signal's handler has a stack of its own, if the stack is full. Its thread's own one stays.
TEST(guest, handles_signals_where_its_thread_did) {
  std::thread([] {
    std::vector<char> memory(1 << 16);
    stack_t own{}, found{};
    own.ss_sp = memory.data(), own.ss_size = memory.size();
    ASSERT_EQ(sigaltstack(&own, nullptr), 0);
    runtime rt(options{.workers = 1});
    rt.run([&found] { sigaltstack(nullptr, &found); });
    EXPECT_EQ(found.ss_sp, own.ss_sp);
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, nullptr);
  }).join();
}

// ---- what is learnt of runs

std::uint64_t us(double n) {
  return static_cast<std::uint64_t>(n * static_cast<double>(detail::ticks_per_microsecond()));
}

struct program {
  detail::run_habits habits;
  std::uint64_t now = us(1000);
  std::uint64_t patience = 0, warm = 0;
  int timed = 0;  // how many runs were

  void run(double work, double gap, bool asleep = false) {
    now += us(gap);
    const bool is_timed = habits.times_next();
    patience = habits.begin(is_timed ? now : 0, asleep);
    const bool divided = us(work) > patience;
    now += divided ? us(work / 2 + 1) : us(work);
    warm = is_timed ? habits.end(now, divided) : 0;
    timed += is_timed;
  }
};

TEST(run_habits, divides_what_is_not_known) {
  program p;
  p.run(1, 1);
  EXPECT_EQ(p.patience, 0u);
}

TEST(run_habits, leaves_short_runs_undivided) {
  program p;
  const std::uint64_t unit = detail::ticks_per_microsecond();
  for (int k = 0; k < 2000; ++k) p.run(1, 1);
  EXPECT_EQ(p.patience, 3 * unit);
  for (int k = 0; k < 4; ++k) p.run(1000, 1);  // one of them is timed
  p.run(1, 1);
  EXPECT_EQ(p.patience, 0u);
}

TEST(run_habits, reads_the_clock_for_few_of_the_short_runs) {
  program p;
  for (int k = 0; k < 2000; ++k) p.run(1, 1);
  p.timed = 0;
  for (int k = 0; k < 400; ++k) p.run(1, 1);
  EXPECT_EQ(p.timed, 100);
  for (int k = 0; k < 4; ++k) p.run(20, 1);
  p.timed = 0;
  for (int k = 0; k < 400; ++k) p.run(20, 1);
  EXPECT_EQ(p.timed, 400);
}

/// A gap is known only between two runs that were timed, one after the other.
TEST(run_habits, takes_no_short_runs_for_a_gap) {
  program p;
  for (int k = 0; k < 100; ++k) p.run(20, 50);
  for (int k = 0; k < 100; ++k) p.run(1, 50);
  for (int k = 0; k < 4000; ++k) p.run(1, 1);
  for (p.timed = 0; p.timed == 0;) p.run(20, 50);
  EXPECT_GT(p.warm, us(95));
  EXPECT_LT(p.warm, us(105));
}

TEST(run_habits, divides_long_runs) {
  program p;
  int patient = 0;
  for (int k = 0; k < 2000; ++k) p.run(50, 1), patient += p.patience != 0;
  EXPECT_EQ(patient, 0);
}

TEST(run_habits, keeps_workers_awake_between_runs_that_they_gain_by) {
  program p;
  for (int k = 0; k < 100; ++k) p.run(20, 50);
  EXPECT_GT(p.warm, us(95));
  EXPECT_LT(p.warm, us(105));
  for (int k = 0; k < 100; ++k) p.run(20, 5000);
  EXPECT_EQ(p.warm, 0u);
}

/// Each of these runs is too short to wake a worker for it alone.
TEST(run_habits, wakes_a_worker_for_the_runs_that_follow) {
  program p;
  for (int k = 0; k < 100; ++k) p.run(10, 1);
  int passed_over = 0;
  for (; passed_over < 100; ++passed_over) {
    p.run(10, 1, true);
    if (p.patience < us(10)) break;
  }
  EXPECT_EQ(passed_over, 7);
  p.run(10, 1);
  EXPECT_EQ(p.patience, 0u);
}

TEST(run_habits, wakes_ever_less_often_a_worker_that_does_not_stay_awake) {
  program p;
  for (int k = 0; k < 100; ++k) p.run(10, 1);
  int woken = 0;
  for (int k = 0; k < 1000; ++k) p.run(10, 1, true), woken += p.patience < us(10);
  EXPECT_EQ(woken, 7);  // after 8, 16, ... 512
}

TEST(run_habits, wakes_nobody_for_runs_that_are_short_or_far_between) {
  program far;
  program brief;
  for (int k = 0; k < 100; ++k) far.run(10, 5000), brief.run(1, 1);
  for (int k = 0; k < 100; ++k) {
    far.run(10, 5000, true), brief.run(1, 1, true);
    EXPECT_GE(far.patience, us(10));
    EXPECT_GE(brief.patience, us(1));
  }
}

TEST(run_habits, tells_short_runs_from_long_ones_and_from_those_far_between) {
  program p;
  EXPECT_FALSE(p.habits.are_short());
  for (int k = 0; k < 100; ++k) p.run(10, 1);
  EXPECT_TRUE(p.habits.are_short());
  p.run(100, 1);
  EXPECT_FALSE(p.habits.are_short());
  program far;
  for (int k = 0; k < 100; ++k) far.run(10, 5000);
  EXPECT_FALSE(far.habits.are_short());
}

}  // namespace
}  // namespace cleave::tests
