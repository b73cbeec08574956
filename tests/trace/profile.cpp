// labels: timing
// Work and span of programs for which they are known.
#include "core/requests.hpp"

#include "trace/strand_clock.hpp"

#include <cleave/detail/division/pace.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace cleave::tests {
namespace {

// Keeps the processor busy for so many ticks.
void consume(std::uint64_t ticks) {
  const std::uint64_t end = detail::ticks() + ticks;
  while (detail::ticks() < end) {}
}

// The paper's bin(A, n, K): A, and K times two of bin(n - 1) and A again.
struct bin {
  std::uint64_t amount;
  int times;
  void call(int n) const {
    consume(amount);
    for (int k = 0; n > 0 && k < times; ++k) {
      both([this, n] { call(n - 1); }, [this, n] { call(n - 1); });
      consume(amount);
    }
  }
  double work(int n) const {
    double t = 1;
    for (int i = 1; i <= n; ++i) t = 1 + times * (2 * t + 1);
    return t;
  }
  double span(int n) const {
    double t = 1;
    for (int i = 1; i <= n; ++i) t = 1 + times * (t + 1);
    return t;
  }
};

constexpr std::uint64_t amount = 20'000;  // ticks: some 7 microseconds

/// The profile of f in units of so many ticks; the medians of some runs, as others use this machine
/// too: who is interrupted waits for the end of its time, and has less left to do.
template <class F>
work_span profile_of(F f, bool cutoff = false, std::uint64_t unit = amount) {
  runtime rt(options{.cutoff = cutoff, .profile = true});
  EXPECT_EQ(rt.workers(), 1);
  constexpr std::size_t runs = 15;
  std::array<double, runs> work{}, span{};
  work_span before;
  for (std::size_t k = 0; k < runs; ++k) {
    const std::uint64_t first_tick = detail::ticks();
    const auto begin = std::chrono::steady_clock::now();
    rt.run([&f] { f(); });
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double per_unit =
        seconds / static_cast<double>(detail::ticks() - first_tick) * static_cast<double>(unit);
    const work_span after = rt.profile();
    EXPECT_LE(after.work - before.work, seconds);
    work[k] = (after.work - before.work) / per_unit;
    span[k] = (after.span - before.span) / per_unit;
    before = after;
  }
  std::sort(work.begin(), work.end());
  std::sort(span.begin(), span.end());
  std::printf("work %.1f, span %.2f\n", work[runs / 2], span[runs / 2]);
  return {work[runs / 2], span[runs / 2]};
}

void expect_about(double found, double expected) {
  EXPECT_GE(found, 0.97 * expected);
  EXPECT_LE(found, 1.1 * expected);
}

/// Strands of 200 microseconds: an interrupt (on virtual machines 10 to 70 microseconds were seen,
/// 450 a second) adds nothing where more than it takes is left of a strand, and the span, the
/// greatest of many sums, takes in what is added.
TEST(profile, trees_have_their_closed_forms) {
  const bin wide{25 * amount, 1}, deep{25 * amount, 2};
  const auto of_wide = profile_of([&] { wide.call(6); }, false, wide.amount);
  expect_about(of_wide.work, wide.work(6));
  expect_about(of_wide.span, wide.span(6));  // K = 1: 2n + 1, and not 2n as the paper has it
  const auto of_deep = profile_of([&] { deep.call(4); }, false, deep.amount);
  expect_about(of_deep.work, deep.work(4));
  expect_about(of_deep.span, deep.span(4));
}

TEST(profile, with_a_cutoff_what_is_short_counts_as_one_strand) {
  const bin tree{amount / 20, 2};
  const auto found = profile_of([&] { tree.call(8); }, true, amount / 20);
  EXPECT_GE(found.work, 0.97 * tree.work(8));
  EXPECT_LE(found.work, 1.2 * tree.work(8));
  EXPECT_GE(found.span, 0.97 * tree.span(8));
  EXPECT_LE(found.span, 0.3 * tree.work(8));
}

/// 800 microseconds: an interrupt (see above) is less than a tenth of it, and the span of a loop is
/// its longest iteration.
constexpr std::uint64_t much = 100 * amount;

TEST(profile, iterations_are_branches) {
  const auto plain = profile_of([] { each(0, 50, [](int) { consume(much); }); }, false, much);
  expect_about(plain.work, 50);
  expect_about(plain.span, 1);
  const auto nested = profile_of(
      [] {
        each(0, 10, [](int i) {
          each(0, 10, [](int) { consume(much); });
          if (i == 3) consume(2 * much);
        });
      },
      false, much);
  expect_about(nested.work, 102);
  expect_about(nested.span, 3);
}

struct nothing_to_do {
  void run() {}
};

TEST(profile, iterations_of_loops_with_a_put_and_with_a_wind) {
  const auto put = [](int, int) { return nothing_to_do{}; };
  const auto plain = profile_of(
      [&] {
        each(
            0, 20, [](int) { consume(much); }, put, [] {});
      },
      false, much);
  expect_about(plain.work, 20);
  expect_about(plain.span, 1);
  struct count {
    long run() { return 0; }
  };
  const auto winding = profile_of(
      [] {
        sum(
            0, 20, [](int, long&, auto wind) { wind([] {}, [] { consume(much); }, [] {}); },
            [](int, int) { return count{}; });
      },
      false, much);
  expect_about(winding.work, 20);
  expect_about(winding.span, 1);
}

TEST(profile, short_iterations_are_worth_a_microsecond_together) {
  const auto found = profile_of([] {
    sum(0, 1'000'000, [](int i) {
      asm volatile("" : "+r"(i));
      return static_cast<long>(i);
    });
  });
  EXPECT_GT(found.work / found.span, 20);
}

TEST(profile, tasks_of_a_group_are_branches) {
  const auto found = profile_of([] {
    consume(amount);
    task_group g;
    for (int i = 0; i < 10; ++i) {
      g.spawn([] { consume(4 * amount); });
      consume(amount);
    }
    g.wait();
    consume(amount);
  });
  expect_about(found.work, 1 + 10 * 5 + 1);
  expect_about(found.span, 1 + 9 + 4 + 1);  // the last task begins after nine of ten
}

TEST(profile, subtasks_of_a_graph_are_on_the_paths_of_their_data) {
  const auto found = profile_of(
      [] {
        graph g;
        auto a = g.make(0), b = g.make(0), c = g.make(0);
        for (int i = 0; i < 10; ++i) g.run([](int&) { consume(much); }, inout(a));
        for (int i = 0; i < 3; ++i) g.run([](int&) { consume(much); }, inout(b));
        for (int i = 0; i < 10; ++i) g.run([](const int&) { consume(much); }, in(b));
        g.run([](const int&, const int&, int&) { consume(much); }, in(a), in(b), out(c));
        g.wait();
        consume(much);
      },
      false, much);
  expect_about(found.work, 10 + 3 + 10 + 1 + 1);
  expect_about(found.span, 10 + 1 + 1);
}

TEST(profile, what_an_exception_leaves_is_over) {
  const auto found = profile_of([] {
    try {
      both([] { both([] { consume(amount); }, [] { throw std::runtime_error("on purpose"); }); },
           [] { consume(amount); });
    } catch (const std::runtime_error&) {}
    both([] { consume(10 * amount); }, [] { consume(10 * amount); });
  });
  expect_about(found.work, 21);
  expect_about(found.span, 11);
}

TEST(profile, runs_follow_each_other) {
  runtime rt(options{.profile = true});
  for (int i = 0; i < 2; ++i) rt.run([] { consume(100 * amount); });
  EXPECT_NEAR(rt.profile().work, rt.profile().span, 0.01 * rt.profile().work);
}

TEST(profile, is_nothing_where_nobody_asked) {
  runtime rt(options{.workers = 1});
  rt.run([] { consume(amount); });
  EXPECT_EQ(rt.profile().work, 0);
  EXPECT_EQ(rt.spent().elapsed, 0);
}

TEST(profile, time_off_the_processor_does_not_count) {
  runtime rt(options{.profile = true});
  rt.run([] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
  EXPECT_LT(rt.profile().work, 0.05);
  EXPECT_LT(rt.profile().span, 0.05);
}

TEST(profile, the_clocks_own_time_does_not_count) {
  // Empty strands, and the clock alone; the cheapest of many batches: nothing else happened
  // meanwhile.
  trace::strand_clock clock;
  constexpr int strands = 10;
  std::uint64_t counted = ~std::uint64_t{0}, alone = counted;
  clock.begin();
  clock.pause();
  for (int batch = 0; batch < 1000; ++batch) {
    const std::uint64_t before = clock.work();
    for (int i = 0; i < strands; ++i) clock.resume(), clock.pause();
    counted = std::min(counted, clock.work() - before);
    const std::uint64_t begin = detail::ticks();
    for (int i = 0; i < strands; ++i) detail::ticks();
    alone = std::min(alone, detail::ticks() - begin);
  }
  EXPECT_LT(counted, alone / 2);
}

}  // namespace
}  // namespace cleave::tests
