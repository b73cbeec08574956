// The columns of the first row dealt to nodes, each of which searches its own, and no other: what
// division on request is compared with.
#pragma once

#include <cleave/cleave.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "../common/measure.hpp"
#include "board.hpp"
#include "sequential.hpp"

namespace apps::queens::dealt {

// What the search below a queen in one column of the first row has found.
struct column {
  std::int64_t solutions = 0;
  double seconds = 0;
  auto fields() { return std::tie(solutions, seconds); }
};

struct findings {
  std::vector<column> columns;

  std::uint64_t solutions() const {
    std::int64_t all = 0;
    for (const column& c : columns) all += c.solutions;
    return static_cast<std::uint64_t>(all);
  }
  // How many times as fast as one node so many are at most, if each has column i for every i that
  // leaves its number: the time of all columns by that of the busiest node.
  double speedup(int nodes) const {
    std::vector<double> busy(static_cast<std::size_t>(nodes));
    double all = 0;
    for (std::size_t i = 0; i < columns.size(); i++) {
      busy[i % busy.size()] += columns[i].seconds;
      all += columns[i].seconds;
    }
    const double most = *std::max_element(busy.begin(), busy.end());
    return most > 0 ? all / most : 1;
  }
  // Times differ from run to run.
  friend bool operator==(const findings& a, const findings& b) {
    return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                      [](const column& x, const column& y) { return x.solutions == y.solutions; });
  }
};

inline column search(int n, int i) {
  const auto [cost, found] = timed([n, i] {
    board b(n);
    return sequential::search(b, 0, i, i + 1);
  });
  return {static_cast<std::int64_t>(found), cost.seconds};
}

inline findings search_all(int n) {
  findings all;
  for (int i = 0; i < n; i++) all.columns.push_back(search(n, i));
  return all;
}

// Columns i, i + nodes, ... come one after the other, on the rank `i % nodes % ranks`. Rank 0 has
// what all have found.
inline findings search_all(int n, int nodes, cleave::team& all) {
  cleave::team_graph g(all);
  std::vector<cleave::datum<column>> columns;
  std::vector<std::optional<cleave::subtask>> last(static_cast<std::size_t>(nodes));
  for (int i = 0; i < n; i++) {
    const int node = i % nodes;
    const unsigned rank = static_cast<unsigned>(node) % all.size();
    columns.push_back(g.make<column>());
    auto& before = last[static_cast<std::size_t>(node)];
    const auto find = [n, i](column& c) { c = search(n, i); };
    before =
        before ? g.run(find, cleave::out(columns.back()), cleave::after(*before), cleave::on(rank))
               : g.run(find, cleave::out(columns.back()), cleave::on(rank));
    g.bring(columns.back(), 0);
  }
  g.wait();
  findings found;
  if (all.rank() != 0) return found;
  for (const auto& c : columns) found.columns.push_back(*c);
  return found;
}

}  // namespace apps::queens::dealt
