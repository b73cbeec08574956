#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/recorded_graph.hpp"

/// What the ways to make a schedule have in common.
namespace cleave::detail {

inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// What comes before what, as `datum_uses` infers it.
class dependences {
public:
  struct edge {
    std::uint32_t from, to;
    std::uint32_t datum;  // whose value goes along it; none: nothing but that it is done
    bool only_here;       // it matters only if both run on one node, which has one copy
  };

  explicit dependences(const recorded_graph& g) {
    std::vector<state> data(g.bytes.size());
    for (std::uint32_t i = 0; i < g.subtasks.size(); ++i) {
      for (const recorded_graph::use& u : g.uses_of(i)) {
        const state& d = data[u.datum];
        const bool goes_on = u.mode == access_mode::add && d.adding && d.readers.empty();
        const bool reads = u.mode != access_mode::out;
        for (const std::uint32_t w : goes_on ? d.before : d.writers)
          edges_.push_back({w, i, reads ? u.datum : none, !reads});
        if (u.mode == access_mode::in) continue;
        for (const std::uint32_t r : d.readers) edges_.push_back({r, i, none, true});
      }
      for (const std::uint32_t before : g.after_of(i)) edges_.push_back({before, i, none, false});
      for (const recorded_graph::use& u : g.uses_of(i)) enter(data[u.datum], u.mode, i);
      edges_end_.push_back(edges_.size());
    }
    link_successors(g.subtasks.size());
  }

  std::span<const edge> before(std::uint32_t i) const {
    const std::size_t first = i == 0 ? 0 : edges_end_[i - 1];
    return std::span(edges_).subspan(first, edges_end_[i] - first);
  }
  /// Numbers of edges.
  std::span<const std::uint32_t> after(std::uint32_t i) const {
    return std::span(out_).subspan(first_[i], first_[i + 1] - first_[i]);
  }
  const edge& at(std::uint32_t number) const { return edges_[number]; }

private:
  struct state {  // of a datum
    std::vector<std::uint32_t> writers, readers, before;
    bool adding = false;
  };

  static void enter(state& d, access_mode mode, std::uint32_t i) {
    if (mode == access_mode::in) return d.readers.push_back(i);
    if (mode != access_mode::add || !d.adding || !d.readers.empty()) {
      d.before = std::move(d.readers.empty() ? d.writers : d.readers);
      d.readers.clear(), d.writers.clear();
      d.adding = mode == access_mode::add;
    }
    d.writers.push_back(i);
  }
  void link_successors(std::size_t n) {
    first_.assign(n + 1, 0);
    for (const edge& e : edges_) ++first_[e.from + 1];
    for (std::size_t i = 0; i < n; ++i) first_[i + 1] += first_[i];
    out_.resize(edges_.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t k = 0; k < edges_.size(); ++k)
      out_[next[edges_[k].from]++] = static_cast<std::uint32_t>(k);
  }

  std::vector<edge> edges_;  // in the order of `to`
  std::vector<std::size_t> edges_end_, first_;
  std::vector<std::uint32_t> out_;  // in the order of `from`
};

inline double bytes_of(const recorded_graph& g, std::uint32_t datum) {
  return datum == none ? 0 : g.bytes[datum];
}

/// Of so many, where the subtask was told to run; none: nobody has told.
inline std::uint32_t asked_rank(const recorded_graph& g, std::size_t i, unsigned nodes) {
  const std::uint32_t asked = g.subtasks[i].asked;
  return asked == recorded_graph::any_rank ? none : asked % nodes;
}

}  // namespace cleave::detail
