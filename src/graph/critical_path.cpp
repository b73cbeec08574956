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

double duration_of(const recorded_graph& g, const dependences& d, std::uint32_t v) {
  return d.kind_of(v) == dependences::kind::subtask ? g.subtasks[d.subtask(v)].duration : 0;
}

/// How long each vertex and what comes after it take at least.
std::vector<double> levels(const recorded_graph& g, const dependences& d) {
  std::vector<double> level(d.size());
  for (std::uint32_t v = d.size(); v-- > 0;) {
    for (const std::uint32_t k : d.after(v)) level[v] = std::max(level[v], level[d.at(k).to]);
    level[v] += duration_of(g, d, v);
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

std::vector<std::uint32_t> by_critical_path(const recorded_graph& g, const dependences& d,
                                            const machine_model& on) {
  using kind = dependences::kind;
  const auto level = levels(g, d);
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(level[a], d.after(a).size(), b) < std::tuple(level[b], d.after(b).size(), a);
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> ready(later);
  std::vector<std::uint32_t> ranks(d.size()), unmet(d.size());
  std::vector<double> ends(d.size());
  // Where a join of readers ends, by rank.
  std::unordered_map<std::uint32_t, std::vector<double>> ends_here;
  // When the workers of a node are free; the first one is on top.
  using times = std::priority_queue<double, std::vector<double>, std::greater<>>;
  std::vector<times> free(on.nodes, times(std::greater<>(), std::vector<double>(on.workers)));
  arrivals there;
  for (std::uint32_t v = 0; v < d.size(); ++v) {
    unmet[v] = static_cast<std::uint32_t>(d.before(v).size());
    if (unmet[v] == 0) ready.push(v);
  }
  // When vertex `v` would end on node `rank`, if its worker is free at `at`: what is there has
  // come, and has been taken out by a worker.
  const auto ends_on = [&](std::uint32_t v, std::uint32_t rank, double at) {
    double taking_out = 0;
    for (const auto& e : d.before(v)) {
      if (d.kind_of(e.from) == kind::join_readers) {
        at = std::max(at, ends_here[e.from][rank]);
      } else if (ranks[e.from] == rank) {
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
    return at + taking_out + duration_of(g, d, v);
  };
  const auto end_on = [&](std::uint32_t v, std::uint32_t rank, double at) {
    ends[v] = ends_on(v, rank, at);
    ranks[v] = rank;
    for (const auto& e : d.before(v))
      if (d.kind_of(e.from) != kind::join_readers && ranks[e.from] != rank && !e.only_here)
        there.set(e.from, e.datum, rank, ends[v] - duration_of(g, d, v));
  };
  std::vector<std::uint32_t> ended;
  while (!ready.empty()) {
    const std::uint32_t i = ready.top();
    ready.pop();
    std::uint32_t best = asked_rank(g, d.subtask(i), on.nodes);
    if (best == none) {
      best = 0;
      double least = ends_on(i, 0, free[0].top());
      for (std::uint32_t rank = 1; rank < on.nodes; ++rank)
        if (const double at = ends_on(i, rank, free[rank].top()); at < least)
          least = at, best = rank;
    }
    end_on(i, best, free[best].top());
    free[best].pop();
    free[best].push(ends[i]);
    // Joins of what has ended end at once.
    for (ended.assign(1, i); !ended.empty();) {
      const std::uint32_t v = ended.back();
      ended.pop_back();
      for (const std::uint32_t k : d.after(v)) {
        const std::uint32_t to = d.at(k).to;
        if (--unmet[to] != 0) continue;
        if (d.kind_of(to) == kind::subtask) {
          ready.push(to);
          continue;
        }
        if (d.kind_of(to) == kind::join_writers) {
          end_on(to, ranks[d.before(to).back().from], 0);
        } else {
          auto& by_rank = ends_here[to];
          by_rank.resize(on.nodes);
          for (const auto& e : d.before(to))
            by_rank[ranks[e.from]] = std::max(by_rank[ranks[e.from]], ends[e.from]);
        }
        ended.push_back(to);
      }
    }
  }
  std::vector<std::uint32_t> by_subtask;
  for (std::uint32_t v = 0; v < d.size(); ++v)
    if (d.kind_of(v) == kind::subtask) by_subtask.push_back(ranks[v]);
  return by_subtask;
}

}  // namespace cleave::detail
