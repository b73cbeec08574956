#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "graph/dependences.hpp"
#include "graph/schedule.hpp"

namespace cleave::detail {
namespace {

/// How long each subtask and what comes after it take at least.
std::vector<double> levels(const recorded_graph& g, const dependences& d) {
  std::vector<double> level(g.subtasks.size());
  for (auto i = static_cast<std::uint32_t>(level.size()); i-- > 0;) {
    for (const std::uint32_t k : d.after(i)) level[i] = std::max(level[i], level[d.at(k).to]);
    level[i] += g.subtasks[i].duration;
  }
  return level;
}

/// When a value, of one subtask and datum, is on a node.
class arrivals {
public:
  double* find(std::uint32_t from, std::uint32_t datum, std::uint32_t rank) {
    const auto at = times_.find(key(from, datum, rank));
    return at == times_.end() ? nullptr : &at->second;
  }
  void set(std::uint32_t from, std::uint32_t datum, std::uint32_t rank, double time) {
    times_[key(from, datum, rank)] = time;
  }

private:
  struct key_type {
    std::uint64_t value;
    std::uint32_t rank;
    bool operator==(const key_type&) const = default;
  };
  struct hash {
    std::size_t operator()(const key_type& k) const noexcept {
      return (k.value * 0x9e3779b97f4a7c15u) ^ (std::uint64_t{k.rank} * 0xbf58476d1ce4e5b9u);
    }
  };
  static key_type key(std::uint32_t from, std::uint32_t datum, std::uint32_t rank) {
    return {std::uint64_t{from} << 32 | datum, rank};
  }
  std::unordered_map<key_type, double, hash> times_;
};

}  // namespace

double critical_path(const recorded_graph& g) {
  const auto level = levels(g, dependences(g));
  return level.empty() ? 0 : *std::ranges::max_element(level);
}

std::vector<std::uint32_t> by_critical_path(const recorded_graph& g, const machine_model& on) {
  const dependences d(g);
  const auto level = levels(g, d);
  const auto n = static_cast<std::uint32_t>(g.subtasks.size());
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(level[a], d.after(a).size(), b) < std::tuple(level[b], d.after(b).size(), a);
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> ready(later);
  std::vector<std::uint32_t> ranks(n), unmet(n);
  std::vector<double> ends(n);
  // When the workers of a node are free; the first one is on top.
  using times = std::priority_queue<double, std::vector<double>, std::greater<>>;
  std::vector<times> free(on.nodes, times(std::greater<>(), std::vector<double>(on.workers)));
  arrivals there;
  for (std::uint32_t i = 0; i < n; ++i) {
    unmet[i] = static_cast<std::uint32_t>(d.before(i).size());
    if (unmet[i] == 0) ready.push(i);
  }
  // When it would end on that node: what is there has come, and has been taken out by a worker.
  const auto ends_on = [&](std::uint32_t i, std::uint32_t rank) {
    double at = free[rank].top(), taking_out = 0;
    for (const auto& e : d.before(i)) {
      if (ranks[e.from] == rank) {
        at = std::max(at, ends[e.from]);
      } else if (!e.only_here) {
        const double bytes = bytes_of(g, e.datum);
        const double* const known = there.find(e.from, e.datum, rank);
        at = std::max(at, known != nullptr ? *known
                                           : ends[e.from] + on.messages.sending.of(bytes) +
                                                 on.messages.transit.of(bytes));
        if (known == nullptr) taking_out += on.messages.receiving.of(bytes);
      }
    }
    return at + taking_out + g.subtasks[i].duration;
  };
  while (!ready.empty()) {
    const std::uint32_t i = ready.top();
    ready.pop();
    std::uint32_t best = asked_rank(g, i, on.nodes);
    if (best == none) {
      best = 0;
      double least = ends_on(i, 0);
      for (std::uint32_t rank = 1; rank < on.nodes; ++rank)
        if (const double at = ends_on(i, rank); at < least) least = at, best = rank;
    }
    ends[i] = ends_on(i, best);
    ranks[i] = best;
    free[best].pop();
    free[best].push(ends[i]);
    for (const auto& e : d.before(i))
      if (ranks[e.from] != best && !e.only_here)
        there.set(e.from, e.datum, best, ends[i] - g.subtasks[i].duration);
    for (const std::uint32_t k : d.after(i))
      if (--unmet[d.at(k).to] == 0) ready.push(d.at(k).to);
  }
  return ranks;
}

}  // namespace cleave::detail
