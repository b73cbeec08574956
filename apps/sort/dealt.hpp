// Numbers of one node dealt to all: each sorts its part, and pairs of them merge, until one node
// has all. It shows what sorting over a network costs if the data begin and end at one place.
#pragma once

#include <cleave/cleave.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "../common/measure.hpp"

namespace apps::sort::dealt {

// A part of the numbers, and how long it took until it was so: the slowest of what it is merged of.
struct part {
  std::vector<std::uint32_t> values;
  double sorting = 0, merging = 0;  // seconds
  auto fields() { return std::tie(values, sorting, merging); }
};

struct findings {
  part all;
  double seconds = 0;
  // What is left is sending, and waiting for it.
  double rest() const { return std::max(0.0, seconds - all.sorting - all.merging); }
  friend bool operator==(const findings& a, const findings& b) {
    return a.all.values == b.all.values;
  }
};

inline void sort(part& p) {
  const auto run = [&p] { return std::sort(p.values.begin(), p.values.end()), 0; };
  p.sorting = timed(run).first.seconds;
}

inline void merge(part& a, const part& b) {
  auto [cost, both] = timed([&] {
    std::vector<std::uint32_t> all(a.values.size() + b.values.size());
    std::merge(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), all.begin());
    return all;
  });
  a.values = std::move(both);
  a.sorting = std::max(a.sorting, b.sorting);
  a.merging = std::max(a.merging, b.merging) + cost.seconds;
}

// The share of node k of so many.
inline part share(const std::vector<std::uint32_t>& values, int k, int nodes) {
  const auto begin = [&](int node) {
    return values.begin() +
           static_cast<std::ptrdiff_t>(values.size() * static_cast<std::size_t>(node) /
                                       static_cast<std::size_t>(nodes));
  };
  return {{begin(k), begin(k + 1)}};
}

// Node k is rank k % ranks. Rank 0 has `values`, and all of them sorted afterwards.
inline part sort_all(const std::shared_ptr<const std::vector<std::uint32_t>>& values, int nodes,
                     cleave::team& all) {
  using cleave::in, cleave::inout, cleave::out, cleave::on;
  cleave::team_graph g(all);
  std::vector<cleave::datum<part>> parts;
  const auto rank = [&](int k) { return static_cast<unsigned>(k) % all.size(); };
  for (int k = 0; k < nodes; k++) {
    parts.push_back(g.make<part>());
    g.run(
        "deal", [values, k, nodes](part& p) { p = share(*values, k, nodes); }, out(parts.back()),
        on(0));
  }
  for (int k = 0; k < nodes; k++) g.run("sort", sort, inout(parts[std::size_t(k)]), on(rank(k)));
  for (int step = 1; step < nodes; step *= 2)
    for (int k = 0, other = step; other < nodes; k += 2 * step, other = k + step)
      g.run("merge", merge, inout(parts[std::size_t(k)]), in(parts[std::size_t(other)]),
            on(rank(k)));
  g.wait();
  return all.rank() == 0 ? *parts[0] : part{};
}

}  // namespace apps::sort::dealt
