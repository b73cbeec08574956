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

// The median over the rounds of what one of `calls` calls takes.
template <class F>
double seconds_of(int calls, F call) {
  times taken;
  for (int round = 0; round <= rounds; round++) {
    const auto begin = clock::now();
    for (int k = 0; k < calls; k++) call();
    const std::chrono::duration<double> took = clock::now() - begin;
    if (round > 0) taken.seconds.push_back(took.count() / calls);  // the first one warms up
  }
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
    const int calls = 20'000'000 / elements;
    short_loop one{elements, 0, 0, 0};
    one.plain = seconds_of(calls, [&] { keep(plain()); });
    one.in_one_run = runtime.run([&] { return seconds_of(calls, [&] { keep(divisible()); }); });
    one.run_each = seconds_of(calls, [&] { keep(runtime.run(divisible)); });
    all.push_back(one);
  }
  return all;
}

}  // namespace overhead
