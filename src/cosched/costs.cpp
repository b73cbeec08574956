#include "cosched/costs.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cosched/clock.hpp"
#include "machine/futex.hpp"

namespace cleave::cosched {
namespace {

constexpr costs usual{1'000, 30'000}, least{100, 1'000}, most{20'000, 100'000};
constexpr int most_turns = 200;

/// Two threads that block by turns: even values are the first one's turn, odd values the second
/// one's.
class turns {
public:
  void pass(std::uint32_t from) noexcept {
    turn_.store(from + 1, std::memory_order_release);
    machine::wake(turn_);
  }
  void await(std::uint32_t value) noexcept {
    for (std::uint32_t t; (t = turn_.load(std::memory_order_acquire)) < value;)
      machine::block(turn_, t);
  }

private:
  std::atomic<std::uint32_t> turn_{0};
};

void stay_on(int cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/// Two CPUs to measure between: the one that this runs on, and another. A launcher may have bound
/// the rank to one; then the other is any that the kernel gives to a thread that asks for all.
std::pair<int, int> two_cpus() noexcept {
  const int this_cpu = sched_getcpu();
  std::pair<int, int> found{this_cpu, this_cpu};
  std::thread([&found, this_cpu] {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    if (pthread_getaffinity_np(pthread_self(), sizeof all, &all) != 0) return;
    for (int i = 0; i < CPU_SETSIZE && found.second == this_cpu; ++i)
      if (i != this_cpu && CPU_ISSET(static_cast<std::size_t>(i), &all)) found.second = i;
  }).join();
  return found;
}

/// How often this thread has lost its CPU to another.
long lost_cpu() noexcept {
  rusage r{};
  return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nivcsw : 0;
}

/// The time of one way, there or back, between threads on these CPUs: the lower quartile, because
/// others may have wanted a CPU meanwhile. `otherwise` if they wanted it too often.
nanoseconds one_way(int one_cpu, int other_cpu, nanoseconds longest, nanoseconds otherwise) {
  turns t;
  std::atomic<std::uint32_t> end{2 * most_turns};
  std::atomic<long> lost{0};
  std::vector<nanoseconds> took;
  took.reserve(most_turns);
  auto first = [&] {
    stay_on(one_cpu);
    const long before_all = lost_cpu();
    const nanoseconds begin = now();
    for (std::uint32_t i = 0; i < 2 * most_turns; i += 2) {
      const nanoseconds before = now();
      if (i >= 20 && before - begin > longest) end.store(i + 2);
      t.pass(i);
      t.await(i + 2);
      took.push_back((now() - before) / 2);
      if (end.load() == i + 2) break;
    }
    lost += lost_cpu() - before_all;
  };
  auto second = [&] {
    stay_on(other_cpu);
    const long before_all = lost_cpu();
    for (std::uint32_t i = 1;; i += 2) {
      t.await(i);
      const bool last = end.load() == i + 1;
      t.pass(i);
      if (last) break;
    }
    lost += lost_cpu() - before_all;
  };
  std::thread one(first), two;
  try {
    two = std::thread(second);
  } catch (...) {  // the first one waits for its answers
    end = 2;
    t.await(1), t.pass(1), one.join();
    throw;
  }
  one.join(), two.join();
  // On one CPU each wake-up may take the CPU from the other thread.
  const bool disturbed = one_cpu != other_cpu && lost > static_cast<long>(took.size() / 10);
  if (took.empty() || disturbed) return otherwise;
  std::sort(took.begin(), took.end());
  return took[took.size() / 4];
}

}  // namespace

costs measure_costs(nanoseconds longest) noexcept try {
  costs c = usual;
  const auto [this_cpu, other] = two_cpus();
  c.context_switch = std::clamp(one_way(this_cpu, this_cpu, longest / 2, c.context_switch),
                                least.context_switch, most.context_switch);
  // A wake-up that took longer than the longest did not find an idle CPU.
  const nanoseconds wake = one_way(this_cpu, other, longest / 2, c.wake);
  if (wake <= most.wake) c.wake = std::max(wake, least.wake);
  return c;
} catch (const std::system_error&) { return usual; }

}  // namespace cleave::cosched
