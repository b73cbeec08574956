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

/// What comes before what, as `datum_uses` infers it. A vertex is a subtask, or a join, which is
/// done when those before it are: so N that add and M that read what they add to have N + M edges.
/// Vertices are numbered in an order in which they could be done one after the other.
class dependences {
public:
  struct edge {
    std::uint32_t from, to;
    std::uint32_t datum;  // its value goes along the edge; none: only that `from` is done
    bool only_here;       // the edge matters only if both run on one node, with one copy
  };
  enum class kind : std::uint8_t {
    subtask,
    join_writers,  // done where the last writer is, with the value
    join_readers   // done on each node when the readers there are done
  };

  explicit dependences(const recorded_graph& g) {
    std::vector<state> data(g.bytes.size());
    std::vector<std::uint32_t> vertex_of;  // the vertex of each subtask
    for (std::uint32_t i = 0; i < g.subtasks.size(); ++i) {
      for (const recorded_graph::use& u : g.uses_of(i)) join_lists(data[u.datum], u);
      const std::uint32_t v = size();
      for (const recorded_graph::use& u : g.uses_of(i)) {
        state& d = data[u.datum];
        const bool goes_on = d.goes_on(u.mode), reads = u.mode != access_mode::out;
        for (const std::uint32_t w : goes_on ? d.writers_before : d.writers)
          edges_.push_back({w, v, reads ? u.datum : none, !reads});
        if (u.mode == access_mode::in) continue;
        for (const std::uint32_t r : goes_on ? d.readers_before : d.readers)
          edges_.push_back({r, v, none, true});
      }
      for (const std::uint32_t before : g.after_of(i))
        edges_.push_back({vertex_of[before], v, none, false});
      for (const recorded_graph::use& u : g.uses_of(i)) enter(data[u.datum], u.mode, v);
      vertex_of.push_back(v);
      add_vertex(kind::subtask, i);
    }
    link_successors();
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(vertices_.size()); }
  kind kind_of(std::uint32_t v) const { return vertices_[v].is; }
  /// The number in the graph of a vertex that is a subtask.
  std::uint32_t subtask(std::uint32_t v) const { return vertices_[v].subtask; }
  std::span<const edge> before(std::uint32_t v) const {
    const std::size_t first = v == 0 ? 0 : vertices_[v - 1].edges_end;
    return std::span(edges_).subspan(first, vertices_[v].edges_end - first);
  }
  /// The numbers of the edges that leave a vertex.
  std::span<const std::uint32_t> after(std::uint32_t v) const {
    return std::span(out_).subspan(first_[v], first_[v + 1] - first_[v]);
  }
  const edge& at(std::uint32_t number) const { return edges_[number]; }

private:
  using list = std::vector<std::uint32_t>;
  struct vertex {
    kind is;
    std::uint32_t subtask;
    std::size_t edges_end;
  };
  struct state {  // what is known of a datum so far
    list writers, readers;
    list writers_before, readers_before;  // what those that add come after
    bool adding = false;
    bool goes_on(access_mode mode) const {
      return mode == access_mode::add && adding && readers.empty();
    }
  };

  void add_vertex(kind is, std::uint32_t subtask) {
    vertices_.push_back({is, subtask, edges_.size()});
  }
  void join(list& all, kind by, std::uint32_t datum) {
    if (all.size() < 2) return;
    const std::uint32_t v = size();
    const bool only_here = by == kind::join_readers;
    for (const std::uint32_t from : all) {
      if (kind_of(from) != kind::join_readers) {
        edges_.push_back({from, v, only_here ? none : datum, only_here});
        continue;
      }
      // A join of readers is done on each node by itself, so what it joins comes before v. (A
      // subtask that reads and adds has come behind it. That happens once to a join.)
      for (std::size_t k = from == 0 ? 0 : vertices_[from - 1].edges_end;
           k < vertices_[from].edges_end; ++k)
        edges_.push_back({edges_[k].from, v, none, true});
    }
    add_vertex(by, none);
    all.assign(1, v);
  }
  /// Joins the lists that further uses would have to come after, too.
  void join_lists(state& d, const recorded_graph::use& u) {
    const bool goes_on = d.goes_on(u.mode);
    if (u.mode == access_mode::in || u.mode == access_mode::add)
      join(goes_on ? d.writers_before : d.writers, kind::join_writers, u.datum);
    if (u.mode == access_mode::add)
      join(goes_on ? d.readers_before : d.readers, kind::join_readers, u.datum);
  }
  static void enter(state& d, access_mode mode, std::uint32_t v) {
    if (mode == access_mode::in) return d.readers.push_back(v);
    if (!d.goes_on(mode)) {
      d.writers_before = std::exchange(d.writers, {});
      d.readers_before = std::exchange(d.readers, {});
      d.adding = mode == access_mode::add;
    }
    d.writers.push_back(v);
  }
  void link_successors() {
    first_.assign(vertices_.size() + 1, 0);
    for (const edge& e : edges_) ++first_[e.from + 1];
    for (std::size_t v = 0; v < vertices_.size(); ++v) first_[v + 1] += first_[v];
    out_.resize(edges_.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t k = 0; k < edges_.size(); ++k)
      out_[next[edges_[k].from]++] = static_cast<std::uint32_t>(k);
  }

  std::vector<vertex> vertices_;
  std::vector<edge> edges_;  // in the order of `to`
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> out_;  // in the order of `from`
};

inline double bytes_of(const recorded_graph& g, std::uint32_t datum) {
  return datum == none ? 0 : g.bytes[datum];
}

/// The rank, among `nodes` ranks, where subtask i was told to run; none: nobody has told.
inline std::uint32_t asked_rank(const recorded_graph& g, std::size_t i, unsigned nodes) {
  const std::uint32_t asked = g.subtasks[i].asked;
  return asked == recorded_graph::any_rank ? none : asked % nodes;
}

}  // namespace cleave::detail
