// The paper's bin(A, n, K) (section 5.5): a binary tree of tasks whose work and span are known in
// closed form.
#pragma once

#include <cstdint>
#include <string>

#include "rounds.hpp"

namespace bench {

// A call of bin(n) consumes A clocks, and K times forks two of bin(n - 1) and consumes A again.
struct bin_parameters {
  std::uint64_t amount;
  int depth, times;

  // T1(n) = A + K (2 T1(n-1) + A), T1(0) = A: how often A is consumed.
  double amounts() const {
    double t = 1;
    for (int n = 1; n <= depth; n++) t = 1 + times * (2 * t + 1);
    return t;
  }
  // Tinf(n) = A + K (Tinf(n-1) + A), Tinf(0) = A; for K = 1 that is A (2n + 1), and not the paper's
  // 2An.
  double amounts_on_path() const {
    double t = 1;
    for (int n = 1; n <= depth; n++) t = 1 + times * (t + 1);
    return t;
  }
  double tasks() const {  // spawned: half of the calls but the root's
    double calls = 1, all = 1;
    for (int n = 1; n <= depth; n++) calls *= 2 * times, all += calls;
    return (all - 1) / 2;
  }
};

template <task_system S>
struct bin_run {
  bin_parameters p;
  std::uint64_t call(int n) const {
    consume(p.amount);
    std::uint64_t consumed = 1;
    for (int k = 0; n > 0 && k < p.times; k++) {
      std::uint64_t left = 0, right = 0;
      fork<S>([this, &left, n] { left = call(n - 1); }, [this, &right, n] { right = call(n - 1); });
      consume(p.amount);
      consumed += left + right + 1;
    }
    return consumed;
  }
};

template <task_system S>
result run_tree(S& system, const settings& with, bin_parameters p) {
  result r;
  r.arguments = "A = " + std::to_string(p.amount) + ", n = " + std::to_string(p.depth) +
                ", K = " + std::to_string(p.times);
  r.tasks = p.tasks();
  r.work = p.amounts() * static_cast<double>(p.amount);
  r.span = p.amounts_on_path() * static_cast<double>(p.amount);
  r.expected = std::to_string(static_cast<std::uint64_t>(p.amounts()));
  rounds(r, system, with, [&] {
    std::uint64_t consumed = 0;
    system.run([&] { consumed = bin_run<S>{p}.call(p.depth); });
    return std::to_string(consumed);
  });
  return r;
}

template <task_system S>
struct tree_1 {
  static constexpr const char* name = "tree-1";
  static result run(S& system, const settings& with) {
    return run_tree(system, with, {23'000, with.size == size::full ? 18 : 12, 1});
  }
};
template <task_system S>
struct tree_2 {
  static constexpr const char* name = "tree-2";
  static result run(S& system, const settings& with) {
    return run_tree(system, with, {750, with.size == size::full ? 10 : 8, 2});
  }
};

}  // namespace bench
