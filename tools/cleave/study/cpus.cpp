#include "cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace study {
namespace {

// The seconds that a loop takes on that CPU, from when all `of` threads are there.
double seconds_on(int cpu, std::atomic<int>& there, int of) {
  run_only_on({cpu});
  there++;
  while (there < of) std::this_thread::yield();
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (unsigned x = 0, i = 0; i < 10'000'000; i++) asm volatile("" : "+r"(x = x * 3 + i));
  return std::chrono::duration<double>(clock::now() - begin).count();
}

std::vector<double> at_once(const std::vector<int>& cpus) {
  std::vector<double> seconds(cpus.size());
  std::vector<std::thread> threads;
  std::atomic<int> there{0};
  for (std::size_t i = 0; i < cpus.size(); i++)
    threads.emplace_back(
        [&, i] { seconds[i] = seconds_on(cpus[i], there, static_cast<int>(cpus.size())); });
  for (auto& t : threads) t.join();
  return seconds;
}

}  // namespace

std::vector<int> cpus_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

void run_only_on(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

double capacity(const std::vector<int>& cpus) {
  std::array<double, 5> alone{};
  for (double& s : alone) s = at_once({cpus[0]})[0];
  std::sort(alone.begin(), alone.end());
  double sum = 0;
  for (double s : at_once(cpus)) sum += alone[alone.size() / 2] / s;
  return sum;
}

}  // namespace study
