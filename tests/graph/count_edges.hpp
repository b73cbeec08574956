#pragma once

#include <cleave/detail/clock.hpp>
#include <cleave/detail/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

namespace cleave::tests {

inline constexpr std::array every_mode{detail::access_mode::in, detail::access_mode::out,
                                       detail::access_mode::inout, detail::access_mode::add};

/// A use has at most as many edges as a subtask has room for, and one that joins it with others.
inline constexpr std::size_t most_edges_of_a_use = 5;

/// Of these subtasks and all that comes after them, among it what joins subtasks. Nothing of the
/// graph runs meanwhile.
inline std::size_t edges_of(std::span<const detail::vertex_ref> all) {
  std::unordered_set<const detail::vertex*> found;
  std::vector<const detail::vertex*> left;
  const auto find = [&](const detail::vertex* v) {
    if (found.insert(v).second) left.push_back(v);
  };
  for (const auto& v : all) find(v.at);
  std::size_t n = 0;
  while (!left.empty()) {
    const detail::edge* e = left.back()->successors;
    left.pop_back();
    for (; e != nullptr; e = e->next) ++n, find(e->to);
  }
  return n;
}

/// A subtask that counts that it has run, and takes so long.
class counting final : public detail::subtask {
public:
  counting(detail::graph_scope& g, std::size_t& ran, unsigned takes = 0)
      : subtask(g), ran_(ran), takes_(takes) {}
  void call() override {
    ++ran_;
    for (const auto began = detail::ticks(); detail::ticks() - began < takes_;) {}
  }

private:
  std::size_t& ran_;
  unsigned takes_;  // in ticks
};

}  // namespace cleave::tests
