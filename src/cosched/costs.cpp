#include "cosched/costs.hpp"

#include <pthread.h>
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
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

/// One way, there or back: the lower quartile, because others may have wanted the CPU meanwhile.
/// With a CPU both threads stay on it.
nanoseconds one_way(int cpu, nanoseconds longest, nanoseconds otherwise) {
  turns t;
  std::atomic<std::uint32_t> end{2 * most_turns};
  std::vector<nanoseconds> took;
  took.reserve(most_turns);
  auto first = [&] {
    if (cpu >= 0) stay_on(cpu);
    const nanoseconds begin = now();
    for (std::uint32_t i = 0; i < 2 * most_turns; i += 2) {
      const nanoseconds before = now();
      if (i >= 20 && before - begin > longest) end.store(i + 2);
      t.pass(i);
      t.await(i + 2);
      took.push_back((now() - before) / 2);
      if (end.load() == i + 2) return;
    }
  };
  auto second = [&] {
    if (cpu >= 0) stay_on(cpu);
    for (std::uint32_t i = 1;; i += 2) {
      t.await(i);
      const bool last = end.load() == i + 1;
      t.pass(i);
      if (last) return;
    }
  };
  std::thread one(first);
  std::thread two(second);
  one.join(), two.join();
  if (took.empty()) return otherwise;
  std::sort(took.begin(), took.end());
  return took[took.size() / 4];
}

}  // namespace

costs measure_costs(nanoseconds longest) noexcept try {
  costs c = usual;
  c.context_switch = std::clamp(one_way(sched_getcpu(), longest / 2, c.context_switch),
                                least.context_switch, most.context_switch);
  c.wake = std::clamp(one_way(-1, longest / 2, c.wake), least.wake, most.wake);
  return c;
} catch (const std::system_error&) { return usual; }

}  // namespace cleave::cosched
