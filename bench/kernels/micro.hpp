// The paper's microscopic kernels (sections 5.1 to 5.4): what a task costs, how long one takes to
// reach another worker, and how long P of them take to reach P workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "result.hpp"
#include "system.hpp"

namespace bench {

[[gnu::noinline]] inline void null_task() { asm volatile(""); }

// Clocks to create and sync an empty task, n times.
template <task_system S>
std::uint64_t create_many(int n) {
  const std::uint64_t begin = cycles();
  for (int i = 0; i < n; i++) fork<S>([] { null_task(); }, [] {});
  return cycles() - begin;
}

// All P workers at once; each sees its own cost. With one worker: the best case.
template <task_system S>
struct spawn {
  static constexpr const char* name = "spawn";
  static result run(S& system, const settings& with) {
    constexpr int tasks = 1000;
    const int warm_up = 5, rounds = with.rounds > 0 ? with.rounds : 31 - warm_up;
    result r;
    r.arguments = "1000 empty tasks by each worker";
    r.tasks = tasks;
    for (int round = 0; round < warm_up + rounds; round++) {
      std::vector<std::uint64_t> took(static_cast<std::size_t>(with.workers));
      std::atomic<int> here{0};
      std::atomic<bool> together{true};
      const double begin = now();
      system.run([&] {
        for_each<S>(with.workers, [&, workers = with.workers](int i) {
          here++;
          if (!wait_until<S>([&] { return here == workers; })) together = false;
          took[static_cast<std::size_t>(i)] = create_many<S>(tasks);
        });
      });
      if (round < warm_up) continue;
      if (!together) throw kernel_error("the workers did not all take part at once");
      r.seconds.push_back(now() - begin);
      double sum = 0;
      for (auto t : took) sum += static_cast<double>(t);
      r.cycles.push_back(sum / with.workers / tasks);
    }
    r.answer = r.expected = "done";
    return r;
  }
};

// The time from the moment before one task is created to the first moment when both it and its
// parent run.
template <task_system S>
struct migrate {
  static constexpr const char* name = "migrate";
  static result run(S& system, const settings& with) {
    if (with.workers < 2) throw kernel_error("needs two workers");
    const int all = with.size == size::full ? 10'000 : 1'000, warm_up = all / 10;
    result r;
    r.arguments = std::to_string(all) + " tasks, one at a time";
    r.answer = r.expected = "done";
    bool together = true;
    const double begin = now();
    system.run([&] {
      for (int i = 0; i < all && together; i++) {
        std::uint64_t child = 0, parent = 0;
        std::atomic<int> running{0};
        std::atomic<bool> both{true};
        auto meet = [&](std::uint64_t& at) {
          at = cycles();
          running++;
          if (!wait_until<S>([&] { return running == 2; })) both = false;
        };
        const std::uint64_t created = cycles();
        fork<S>([&] { meet(child); }, [&] { meet(parent); });
        together = both;
        if (i < warm_up) continue;
        r.series["child"].push_back(static_cast<double>(child - created));
        r.series["parent"].push_back(static_cast<double>(parent - created));
        r.cycles.push_back(static_cast<double>(std::max(child, parent) - created));
      }
    });
    if (!together) throw kernel_error("parent and child did not run at once");
    r.seconds.push_back(now() - begin);
    return r;
  }
};

// The time until the first, the second, ... and the last of P workers has one of P tasks, made as a
// binary tree.
template <task_system S>
struct spread {
  static constexpr const char* name = "spread";
  static result run(S& system, const settings& with) {
    const int warm_up = 10, rounds = with.rounds > 0 ? with.rounds : 30 - warm_up;
    result r;
    r.arguments = std::to_string(with.workers) + " tasks";
    r.answer = r.expected = "done";
    for (int round = 0; round < warm_up + rounds; round++) {
      spread_once one(with.workers);
      const double begin = now();
      system.run([&] {
        one.created = cycles();
        one.part(0, one.workers);
      });
      if (!one.together) throw kernel_error("the tasks did not all run at once");
      if (round < warm_up) continue;
      r.seconds.push_back(now() - begin);
      std::sort(one.reached.begin(), one.reached.end());
      for (double t : one.reached) r.series["reached"].push_back(t);
      r.cycles.push_back(one.reached.back());
    }
    return r;
  }

private:
  struct spread_once {
    int workers;
    std::vector<double> reached;
    std::atomic<int> here{0};
    std::atomic<bool> together{true};
    std::uint64_t created = 0;
    explicit spread_once(int n) : workers(n), reached(static_cast<std::size_t>(n)) {}

    void part(int first, int last) {
      if (last - first == 1) {
        reached[static_cast<std::size_t>(first)] = static_cast<double>(cycles() - created);
        here++;
        if (!wait_until<S>([this] { return here == workers; })) together = false;
        return;
      }
      const int middle = (first + last) / 2;
      fork<S>([=, this] { part(first, middle); }, [=, this] { part(middle, last); });
    }
  };
};

}  // namespace bench
