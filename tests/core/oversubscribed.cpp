// labels: timing slow
// More workers than CPUs, and two runtimes at once, slow down by no more than sharing the CPUs
// explains.
#include "core/requests.hpp"
#include "machine/cpus.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

namespace cleave::tests {
namespace {

using clock = std::chrono::steady_clock;

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

const double golden = (1 + std::sqrt(5)) / 2;  // fib(n + 1) takes so many times as long as fib(n)

double seconds_of(runtime& rt, int n) {
  const auto begin = clock::now();
  EXPECT_EQ(rt.run([n] { return fib(n); }), std::lround(std::pow(golden, n) / std::sqrt(5)));
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// The least n that takes 0.4 s, so that what a run costs at its beginning and end does not show.
/// Compilers differ by more than two.
int long_enough(runtime& rt) {
  constexpr int least = 38;
  seconds_of(rt, least);
  return least + std::max(0, static_cast<int>(std::ceil(std::log(0.4 / seconds_of(rt, least)) /
                                                        std::log(golden))));
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

TEST(oversubscribed, more_workers_than_cpus) {
  const int cpus = machine::usable_cpus();
  runtime right(options{.workers = cpus}), four(options{.workers = 4 * cpus}),
      many(options{.workers = 32 * cpus});
  const int n = long_enough(right);
  seconds_of(four, n), seconds_of(many, n);
  std::vector<double> with_four, with_many;
  for (int k = 0; k < 5; ++k) {  // in turn: the machine's mood is the same for all of a round
    const double t = seconds_of(right, n);
    with_four.push_back(seconds_of(four, n) / t);
    with_many.push_back(seconds_of(many, n) / t);
    std::printf("fib(%d): %d workers %.4f s, %d workers %.3f times that, %d workers %.3f\n", n,
                cpus, t, 4 * cpus, with_four.back(), 32 * cpus, with_many.back());
  }
  EXPECT_LT(median(with_four), 1.15);
  EXPECT_LT(median(with_many), 1.25);
}

TEST(oversubscribed, two_runtimes_at_once) {
  const int cpus = machine::usable_cpus();
  runtime a(options{.workers = cpus}), b(options{.workers = cpus});
  const int n = long_enough(a);
  seconds_of(b, n);
  std::vector<double> together;
  for (int k = 0; k < 3; ++k) {
    const double alone = seconds_of(a, n) + seconds_of(b, n);
    const auto begin = clock::now();
    std::thread other([&] { seconds_of(b, n); });
    seconds_of(a, n);
    other.join();
    together.push_back(std::chrono::duration<double>(clock::now() - begin).count() / alone);
    std::printf("fib(%d) twice: one after the other %.4f s, together %.3f times that\n", n, alone,
                together.back());
  }
  EXPECT_LT(median(together), 1.25);
}

}  // namespace
}  // namespace cleave::tests
