// Whole programs: two calls (fib), a loop of few (queens, uts), a loop of ten (skynet), and
// matrices.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rounds.hpp"
#include "uts/tree.hpp"

namespace bench {

template <task_system S>
struct fib {
  static constexpr const char* name = "fib";
  static long call(int n) {
    asm volatile("" : "+r"(n));  // or a compiler sees that call(n - 1) computes call(n - 2) too
    if (n < 2) return n;
    long x = 0, y = 0;
    fork<S>([&x, n] { x = call(n - 1); }, [&y, n] { y = call(n - 2); });
    return x + y;
  }
  static result run(S& system, const settings& with) {
    const int n = with.size == size::full ? 37 : 30;
    long a = 0, b = 1;
    for (int i = 0; i < n; i++) b += std::exchange(a, b);
    result r;
    r.arguments = "n = " + std::to_string(n);
    r.expected = std::to_string(a);
    r.tasks = static_cast<double>(b - 1);  // fib(n + 1) - 1 calls fork
    rounds(r, system, with, [&] {
      long found = 0;
      system.run([&] { found = call(n); });
      return std::to_string(found);
    });
    return r;
  }
};

// A task for each safe square of a row; the board is three words.
template <task_system S>
struct queens {
  static constexpr const char* name = "queens";
  static long call(unsigned full, unsigned columns, unsigned left, unsigned right) {
    if (columns == full) return 1;
    std::array<unsigned, 32> safe;
    int n = 0;
    for (unsigned free = full & ~(columns | left | right); free != 0; free &= free - 1)
      safe[static_cast<std::size_t>(n++)] = free & -free;
    if (n == 0) return 0;
    std::array<long, 32> found;
    const unsigned* squares = safe.data();
    long* counts = found.data();
    for_each<S>(n, [=](int i) {
      const unsigned s = squares[i];
      counts[i] = call(full, columns | s, (left | s) << 1, (right | s) >> 1);
    });
    long sum = 0;
    for (int i = 0; i < n; i++) sum += counts[i];
    return sum;
  }
  static result run(S& system, const settings& with) {
    const int n = with.size == size::full ? 13 : 11;
    result r;
    r.arguments = "n = " + std::to_string(n);
    r.expected = n == 13 ? "73712" : "2680";
    rounds(r, system, with, [&] {
      long found = 0;
      system.run([&] { found = call((1u << n) - 1, 0, 0, 0); });
      return std::to_string(found);
    });
    return r;
  }
};

template <task_system S>
struct uts {
  static constexpr const char* name = "uts";
  using node = apps::uts::node;
  static std::uint64_t call(const apps::uts::tree& t, const node& parent) {
    const int children = t.children(parent);
    if (children == 0) return 1;
    std::vector<std::uint64_t> nodes(static_cast<std::size_t>(children));
    std::uint64_t* counts = nodes.data();
    const node* p = &parent;
    for_each<S>(children, [&t, p, counts](int i) { counts[i] = call(t, p->child(i)); });
    std::uint64_t sum = 1;
    for (std::uint64_t n : nodes) sum += n;
    return sum;
  }
  static result run(S& system, const settings& with) {
    apps::uts::parameters p;  // T1, and the same tree cut off two levels earlier
    p.type = apps::uts::kind::geometric, p.form = apps::uts::shape::fixed;
    p.branching = 4, p.seed = 19, p.depth = with.size == size::full ? 10 : 8;
    const apps::uts::tree t(p);
    result r;
    r.arguments = with.size == size::full ? "T1" : "T1 to depth 8";
    r.expected = with.size == size::full ? "4130071" : std::to_string(count(t, t.root()));
    r.tasks = std::stod(r.expected) - 1;
    rounds(r, system, with, [&] {
      std::uint64_t found = 0;
      system.run([&] { found = call(t, t.root()); });
      return std::to_string(found);
    });
    return r;
  }

private:
  static std::uint64_t count(const apps::uts::tree& t, const node& parent) {
    std::uint64_t sum = 1;
    for (int i = 0, n = t.children(parent); i < n; i++) sum += count(t, parent.child(i));
    return sum;
  }
};

// Ten tasks a level, whose leaves return their numbers.
template <task_system S>
struct skynet {
  static constexpr const char* name = "skynet";
  static std::int64_t call(std::int64_t first, std::int64_t leaves) {
    if (leaves == 1) return first;
    std::array<std::int64_t, 10> part;
    std::int64_t* sums = part.data();
    for_each<S>(10, [=](int i) { sums[i] = call(first + i * (leaves / 10), leaves / 10); });
    std::int64_t sum = 0;
    for (std::int64_t s : part) sum += s;
    return sum;
  }
  static result run(S& system, const settings& with) {
    const std::int64_t leaves = with.size == size::full ? 1'000'000 : 100'000;
    result r;
    r.arguments = std::to_string(leaves) + " leaves";
    r.expected = std::to_string(leaves * (leaves - 1) / 2);
    r.tasks = static_cast<double>(leaves - 1) / 9 * 10;
    rounds(r, system, with, [&] {
      std::int64_t sum = 0;
      system.run([&] { sum = call(0, leaves); });
      return std::to_string(sum);
    });
    return r;
  }
};

// C += A B, by halving the longest of three sides down to 32. Whole numbers, so that the sum is
// exact.
template <task_system S>
struct matmul {
  static constexpr const char* name = "matmul";
  static constexpr int leaf = 32;
  struct block {
    double* at;
    std::ptrdiff_t stride;
    block part(int row, int column) const { return {at + row * stride + column, stride}; }
  };
  static void call(block c, block a, block b, int rows, int inner, int columns) {
    if (rows <= leaf && inner <= leaf && columns <= leaf) {
      for (int i = 0; i < rows; i++)
        for (int k = 0; k < inner; k++) {
          const double x = a.at[i * a.stride + k];
          for (int j = 0; j < columns; j++) c.at[i * c.stride + j] += x * b.at[k * b.stride + j];
        }
    } else if (rows >= inner && rows >= columns) {
      const int h = rows / 2;
      fork<S>([=] { call(c, a, b, h, inner, columns); },
              [=] { call(c.part(h, 0), a.part(h, 0), b, rows - h, inner, columns); });
    } else if (columns >= inner) {
      const int h = columns / 2;
      fork<S>([=] { call(c, a, b, rows, inner, h); },
              [=] { call(c.part(0, h), a, b.part(0, h), rows, inner, columns - h); });
    } else {
      const int h = inner / 2;  // both halves add to C: one after the other
      call(c, a, b, rows, h, columns);
      call(c, a.part(0, h), b.part(h, 0), rows, inner - h, columns);
    }
  }
  static result run(S& system, const settings& with) {
    const int n = with.size == size::full ? 1024 : 384;
    const auto cells = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::vector<double> a(cells), b(cells), c(cells);
    for (std::size_t i = 0; i < cells; i++) {
      a[i] = static_cast<double>(i % 7), b[i] = static_cast<double>(i % 5);
    }
    result r;
    r.arguments = "n = " + std::to_string(n);
    r.expected = "A (B x)";
    rounds(r, system, with, [&] {
      std::fill(c.begin(), c.end(), 0.0);
      system.run([&] { call({c.data(), n}, {a.data(), n}, {b.data(), n}, n, n, n); });
      return times_vector(c, n, ones(n)) == times_vector(a, n, times_vector(b, n, ones(n)))
                 ? "A (B x)"
                 : "something else";
    });
    return r;
  }

private:
  static std::vector<double> ones(int n) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<double>(i % 3);
    return x;
  }
  static std::vector<double> times_vector(const std::vector<double>& m, int n,
                                          const std::vector<double>& x) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> y(size);
    for (std::size_t i = 0; i < size; i++)
      for (std::size_t j = 0; j < size; j++) y[i] += m[i * size + j] * x[j];
    return y;
  }
};

}  // namespace bench
