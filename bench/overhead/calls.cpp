#include <chrono>
#include <cleave/cleave.hpp>

#include "series.hpp"

namespace overhead {
namespace {

using clock = std::chrono::steady_clock;

constexpr int rounds = 9;

// What a compiler must not see through.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// What one of `calls` calls takes.
template <class F>
double once(int calls, F call) {
  const auto begin = clock::now();
  for (int k = 0; k < calls; k++) call();
  return std::chrono::duration<double>(clock::now() - begin).count() / calls;
}

// The median over the rounds of what one of `calls` calls takes.
template <class F>
double seconds_of(int calls, F call) {
  times taken;
  once(calls, call);  // warms up
  for (int round = 0; round < rounds; round++) taken.seconds.push_back(once(calls, call));
  return taken.median();
}

}  // namespace

std::vector<call_cost> call_costs() {
  cleave::runtime runtime(cleave::options{.workers = 1});
  std::vector<call_cost> all;
  int n = 0;
  all.push_back({"run, nothing divided",
                 seconds_of(100'000, [&] { keep(runtime.run([&n] { return ++n; })); })});
  runtime.run([&] {
    all.push_back({"cancel_scope", seconds_of(100'000, [&] {
                     cleave::cancel_scope scope;
                     keep(scope.run([&n] { ++n; }));
                   })});
    all.push_back({"cancel_scope, cancelled", seconds_of(100'000, [&] {
                     cleave::cancel_scope scope;
                     keep(scope.run([&] { scope.cancel(); }));
                   })});
    all.push_back({"cancel_scope, a poll throws", seconds_of(1000, [&] {
                     cleave::cancel_scope scope;
                     keep(scope.run([&] { scope.cancel(), cleave::poll(); }));
                   })});
    all.push_back({"task of a group", seconds_of(100, [&] {
                                        cleave::task_group group;
                                        for (int k = 0; k < 1000; k++) group.spawn([&n] { ++n; });
                                        group.wait();
                                      }) / 1000});
    all.push_back({"group of one task", seconds_of(100'000, [&] {
                     cleave::task_group group;
                     group.spawn([&n] { ++n; });
                     group.wait();
                   })});
    all.push_back({"find_first, the fourth of eight", seconds_of(100'000, [&] {
                     keep(cleave::find_first(0, 8, [&n](int i) { return keep(n), i == 3; }));
                   })});
  });
  return all;
}

std::vector<short_loop> short_loops(int workers) {
  cleave::runtime runtime(cleave::options{.workers = workers});
  std::vector<short_loop> all;
  for (const int elements : {2000, 10'000, 40'000, 200'000}) {
    const std::vector<float> values(static_cast<std::size_t>(elements), 1.5F);
    const float* const v = values.data();
    const auto plain = [=] {
      double total = 0;
      for (int i = 0; i < elements; i++) total += v[i] * v[i];
      return total;
    };
    const auto divisible = [=] {
      return cleave::sum(0, elements, [v](int i) -> double { return v[i] * v[i]; });
    };
    const int calls = 5'000'000 / elements;
    times alone, in_one_run, run_each;
    for (int round = 0; round < 4 * rounds; round++) {  // in turns: a processor changes its speed
      alone.seconds.push_back(once(calls, [&] { keep(plain()); }));
      in_one_run.seconds.push_back(
          runtime.run([&] { return once(calls, [&] { keep(divisible()); }); }));
      run_each.seconds.push_back(once(calls, [&] { keep(runtime.run(divisible)); }));
    }
    all.push_back({elements, alone.median(), in_one_run.median(), run_each.median()});
  }
  return all;
}

}  // namespace overhead
