#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "common/measure.hpp"
#include "kernels.hpp"

namespace overhead {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

void busy_until(clock::time_point end) {
  while (clock::now() < end) {}
}

}  // namespace

latency wake_up(int workers) {
  constexpr int rounds = 200;
  cleave::runtime runtime(cleave::options{.workers = workers});
  std::vector<double> seconds;
  runtime.run([&] {
    for (int round = 0; round < rounds; round++) {
      busy_until(clock::now() + 2ms);  // the others find nothing, and sleep
      std::atomic<bool> begun = false;
      clock::time_point there;
      const auto made = clock::now();
      cleave::both(
          [&] {
            while (!begun.load(std::memory_order_acquire) && clock::now() < made + 50ms)
              cleave::poll();
          },
          [&] {
            there = clock::now();
            begun.store(true, std::memory_order_release);
          });
      seconds.push_back(std::chrono::duration<double>(there - made).count());
    }
  });
  std::sort(seconds.begin(), seconds.end());
  return {seconds[rounds / 2], seconds[rounds * 99 / 100]};
}

double idle_cpu(int workers) {
  cleave::runtime runtime(cleave::options{.workers = workers});
  return runtime.run([] {
    busy_until(clock::now() + 100ms);
    apps::stopwatch time;
    busy_until(clock::now() + 1s);
    time.stop();
    return time.cpu_seconds() / time.seconds();
  });
}

}  // namespace overhead
