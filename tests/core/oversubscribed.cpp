// labels: timing
// More workers than CPUs, and two runtimes at once, slow down by no more than sharing the CPUs explains.
#include "core/requests.hpp"
#include "machine/cpus.hpp"

#include <algorithm>
#include <chrono>
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

constexpr int size =
    44;  // long enough that what a run costs at its beginning and end does not show
constexpr long answer = 701408733;

double once(runtime& rt) {
  const auto begin = clock::now();
  EXPECT_EQ(rt.run([] { return fib(size); }), answer);
  return std::chrono::duration<double>(clock::now() - begin).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

TEST(oversubscribed, more_workers_than_cpus) {
  const int cpus = machine::usable_cpus();
  runtime right(options{.workers = cpus}), four(options{.workers = 4 * cpus}),
      many(options{.workers = 32 * cpus});
  once(right), once(four), once(many);
  std::vector<double> t[3];
  for (int k = 0; k < 3; ++k) {  // interleaved: the machine's mood is the same for all
    t[0].push_back(once(right));
    t[1].push_back(once(four));
    t[2].push_back(once(many));
  }
  std::printf("fib(%d): %d workers %.4f s, %d workers %.4f s, %d workers %.4f s\n", size, cpus,
              median(t[0]), 4 * cpus, median(t[1]), 32 * cpus, median(t[2]));
  EXPECT_LT(median(t[1]), 1.15 * median(t[0]));
  EXPECT_LT(median(t[2]), 1.25 * median(t[0]));
}

TEST(oversubscribed, two_runtimes_at_once) {
  const int cpus = machine::usable_cpus();
  runtime a(options{.workers = cpus}), b(options{.workers = cpus});
  once(a), once(b);
  std::vector<double> alone, together;
  for (int k = 0; k < 3; ++k) {
    alone.push_back(once(a) + once(b));
    const auto begin = clock::now();
    std::thread other([&b] { once(b); });
    once(a);
    other.join();
    together.push_back(std::chrono::duration<double>(clock::now() - begin).count());
  }
  std::printf("fib(%d) twice: one after the other %.4f s, together %.4f s\n", size, median(alone),
              median(together));
  EXPECT_LT(median(together), 1.25 * median(alone));
}

}  // namespace
}  // namespace cleave::tests
