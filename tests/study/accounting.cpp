// labels: timing
// Where the time of the workers goes: each part where it is known how much of it there must be.
#include "kernels/accounting.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "kernels/tree.hpp"
#include "systems/cleave_groups.hpp"

namespace {

using bench::accounted, bench::shares;

struct serial_forks {
  static constexpr const char* name = "serial";
  static std::string version() { return "plain calls"; }
  explicit serial_forks(int) {}
  template <class F>
  void run(const F& f) {
    f();
  }
  template <class F, class G>
  static void fork(const F& f, const G& g) {
    g();
    f();
  }
  template <class F>
  static void for_each(int n, const F& f) {
    for (int i = 0; i < n; i++) f(i);
  }
};

constexpr double wait = 0.002;
void busy(double seconds) {
  for (const double end = bench::now() + seconds; bench::now() < end;) {}
}

// A thread for each task, which begins it after a while; or the caller does, in sync.
template <bool elsewhere>
struct late {
  static constexpr const char* name = "late";
  static std::string version() { return "a thread each"; }
  explicit late(int) {}
  template <class F>
  void run(const F& f) {
    f();
  }
  struct group {
    template <class F>
    void spawn(const F& f) {
      task = [f] {
        busy(wait);
        f();
      };
      if constexpr (elsewhere) thread = std::thread(task);
    }
    void sync() {
      if constexpr (elsewhere) thread.join();
      else task();
    }
    std::function<void()> task;
    std::thread thread;
  };
};

template <class S>
shares of_tree(int workers, const bench::bin_parameters& p) {
  accounted<S> system(workers);
  const bench::result r = bench::run_tree(system, {.workers = workers, .rounds = 1}, p);
  EXPECT_EQ(r.answer, r.expected);
  return r.shares.value_or(shares());
}

// What else runs on the machine only adds: the shortest of many tries, each shorter than a time
// slice.
template <class Measure>
shares quietest(const Measure& once) {
  shares found = once();
  for (int i = 0; i < 100; i++)
    if (const shares s = once(); s.elapsed < found.elapsed) found = s;
  return found;
}

// bin(A, n, 1) again, but A is a time and not a number of clocks.
template <class S>
void busy_tree(int n) {
  busy(10e-6);
  if (n == 0) return;
  bench::fork<S>([n] { busy_tree<S>(n - 1); }, [n] { busy_tree<S>(n - 1); });
  busy(10e-6);
}
template <class S>
void expect_the_trees_work() {
  const shares s = quietest([] {
    accounted<S> system(1);
    system.run([] { busy_tree<accounted<S>>(6); });
    return system.shares();
  });
  EXPECT_NEAR(s.work / (bench::bin_parameters{1, 6, 1}.amounts() * 10e-6), 1, 0.1);
}
TEST(one_worker, works_as_long_as_the_closed_form_says) {
  expect_the_trees_work<groups>();
  expect_the_trees_work<serial_forks>();
}

template <class S>
void expect_no_idle_time() {
  const shares s = quietest([] { return of_tree<S>(1, {100, 12, 1}); });
  EXPECT_EQ(s.stolen, 0);
  EXPECT_GT(s.api, 0);
  EXPECT_NEAR((s.work + s.api) / s.elapsed, 1, 0.1);
}
TEST(one_worker, has_no_idle_time) {
  expect_no_idle_time<groups>();
  expect_no_idle_time<serial_forks>();
}

// 255 spawns of 2 µs, which are not the work's time.
struct slow_spawn : serial_forks {
  using serial_forks::serial_forks;
  template <class F, class G>
  static void fork(const F& f, const G& g) {
    busy(2e-6);
    g();
    f();
  }
};
TEST(one_worker, spends_in_the_api_what_a_spawn_takes) {
  const bench::bin_parameters p{100, 8, 1};
  const shares slow = quietest([&] { return of_tree<slow_spawn>(1, p); });
  const shares fast = quietest([&] { return of_tree<serial_forks>(1, p); });
  EXPECT_NEAR((slow.api - fast.api) / (p.tasks() * 2e-6), 1, 0.2);
  EXPECT_LT(slow.work, slow.api / 2);
}

TEST(two_workers, do_not_have_more_time_than_there_is) {
  for (int i = 0; i < 20; i++) {
    const shares s = of_tree<groups>(2, {750, 6, 2});
    EXPECT_GT(s.work, 0);
    EXPECT_LE(s.work + s.api + s.stolen, 2 * s.elapsed * 1.001);
  }
}

TEST(two_workers, one_of_which_has_nothing_to_do) {
  const shares s = quietest([] {
    accounted<groups> system(2);
    system.run([] { busy(wait); });
    return system.shares();
  });
  EXPECT_NEAR(s.work, wait, wait / 10);
  EXPECT_EQ(s.stolen, 0);
  EXPECT_EQ(s.api, 0);
  EXPECT_GE(s.elapsed, wait);  // so that as much is left
}

template <class S>
shares of_one_task() {
  accounted<S> system(2);
  system.run([] {
    typename accounted<S>::group tasks;
    tasks.spawn([] { busy(wait); });
    tasks.sync();
  });
  return system.shares();
}
TEST(a_task_left_lying, is_lost_time_of_the_worker_that_takes_it) {
  const shares s = quietest(of_one_task<late<true>>);
  EXPECT_NEAR(s.work, wait, wait / 10);
  EXPECT_GE(s.stolen, wait * 0.99);
  EXPECT_LT(s.api, wait);  // a thread is made
}
TEST(a_task_left_lying, is_the_apis_time_if_its_maker_takes_it) {
  const shares s = quietest(of_one_task<late<false>>);
  EXPECT_NEAR(s.work, wait, wait / 10);
  EXPECT_GE(s.api, wait * 0.99);
  EXPECT_EQ(s.stolen, 0);
}

// As where tasks are threads of a library: a task leaves for a call on one worker and goes on on
// another.
TEST(a_task_that_moves, is_lost_time_of_the_worker_where_it_goes_on) {
  accounted<serial_forks> clocks(1);
  bench::readiness made{};
  std::thread([&] { made = bench::leave(bench::doing::spawn); }).join();
  std::thread([&] {
    busy(wait);
    bench::enter(made);
    bench::leave(bench::doing::other);
  }).join();
  clocks.run([] { busy(1e-3); });  // or no clock was compared with the seconds
  const shares s = clocks.shares();
  EXPECT_GE(s.stolen, wait * 0.99);
  EXPECT_LT(s.api, wait / 20);
}

TEST(a_system, that_says_itself_is_asked) {
  struct telling : serial_forks {
    using serial_forks::serial_forks;
    bench::shares told;
    bench::shares shares() {
      told.elapsed += 1, told.work += 2;
      return {told.elapsed, told.work, 0, 0};
    }
  } system(1);
  const auto r = bench::run_tree(system, {.rounds = 1}, {1, 1, 1});
  ASSERT_TRUE(r.shares.has_value());
  EXPECT_EQ(r.shares->elapsed, 1);
  EXPECT_EQ(r.shares->work, 2);
}

}  // namespace
