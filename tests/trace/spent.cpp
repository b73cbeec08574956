// labels: timing
// Where the workers' time went, in programs where that is known.
#include "core/requests.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;

void busy(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) poll();
}

/// Of the quickest of three runs: others may use this machine.
template <class F>
time_spent spent_by(F f) {
  runtime rt(options{.workers = 2, .timing = true});
  time_spent quickest{.elapsed = 1e300};
  for (int k = 0; k < 3; ++k) {
    rt.run([] {});
    std::this_thread::sleep_for(20ms);  // waits between two runs are nobody's
    const auto before = rt.spent();
    rt.run([&f] { f(); });
    const auto after = rt.spent();
    if (after.elapsed - before.elapsed > quickest.elapsed) continue;
    quickest = {after.elapsed - before.elapsed, after.work - before.work,
                after.dividing - before.dividing, after.stealing - before.stealing,
                after.idle - before.idle};
  }
  std::printf("elapsed %.4f work %.4f dividing %.4f stealing %.4f idle %.4f\n", quickest.elapsed,
              quickest.work, quickest.dividing, quickest.stealing, quickest.idle);
  return quickest;
}

TEST(spent, one_works_and_there_is_nothing_for_the_other) {
  const auto t = spent_by([] { busy(100ms); });
  EXPECT_NEAR(t.work, t.elapsed, 0.1 * t.elapsed);
  EXPECT_NEAR(t.idle, t.elapsed, 0.1 * t.elapsed);
  EXPECT_LT(t.stealing, 0.02 * t.elapsed);
}

TEST(spent, both_work) {
  const auto t = spent_by([] { both([] { busy(100ms); }, [] { busy(100ms); }); });
  EXPECT_NEAR(t.work, 2 * t.elapsed, 0.1 * t.elapsed);
  EXPECT_LT(t.idle + t.stealing + t.dividing, 0.1 * t.elapsed);
}

TEST(spent, runs_at_the_same_time_count_once) {
  runtime rt(options{.workers = 2, .timing = true});
  std::thread other([&rt] {
    std::this_thread::sleep_for(60ms);
    rt.run([] {});
  });
  rt.run([] { busy(100ms); });
  other.join();
  EXPECT_NEAR(rt.spent().elapsed, 0.1, 0.02);
}

TEST(spent, who_waits_for_a_part_is_idle) {
  const auto t = spent_by([] { both([] { busy(50ms); }, [] { busy(100ms); }); });
  EXPECT_NEAR(t.work, 0.150, 0.02);
  EXPECT_NEAR(t.idle, 0.050, 0.02);
}

TEST(spent, work_that_is_there_and_not_given_is_no_idle_time) {
  // For 100 ms there is something to give, and no poll.
  const auto t = spent_by([] {
    each(0, 2, [](int) {
      const auto end = std::chrono::steady_clock::now() + 100ms;
      while (std::chrono::steady_clock::now() < end) {}
    });
  });
  EXPECT_GT(t.stealing + t.work, 0.19);
}

}  // namespace
}  // namespace cleave::tests
