// The answer in words, and its check.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "../common/answer.hpp"
#include "generators.hpp"

namespace apps::clique {

// The size of the largest clique, if g is the well-known graph whose name it bears; otherwise -1.
inline int known_size(const graph& g, const std::string& name) {
  for (const named_graph& each : named_graphs)
    if (each.name == name) {
      const graph original = each.make();
      if (original.vertices == g.vertices && original.edges.size() == g.edges.size())
        return each.largest_clique;
    }
  return -1;
}

inline bool is_clique(const graph& g, const std::vector<int>& members) {
  std::set<std::pair<int, int>> inside;
  auto member = [&](int v) {
    return std::find(members.begin(), members.end(), v) != members.end();
  };
  for (auto [u, v] : g.edges)
    if (member(u) && member(v)) inside.insert(std::minmax(u, v));
  return inside.size() == members.size() * (members.size() - 1) / 2;
}

template <class Result>
answer report(const graph& g, int known, int bound, const Result& found) {
  answer a{std::int64_t{found.size}, ""};
  std::vector<int> members;
  for (int v : found.members) members.push_back(v + 1);
  std::sort(members.begin(), members.end());
  if (members.empty()) {
    a.text = "no clique of more than " + std::to_string(bound) + " vertices";
  } else {
    a.text = std::to_string(found.size) + " vertices:";
    for (int v : members) a.text.append(1, ' ').append(std::to_string(v));
  }
  a.text += "; " + std::to_string(found.nodes) + " nodes";
  a.more = {{"nodes", static_cast<std::int64_t>(found.nodes)}, {"clique", members}};

  if (known >= 0 && found.size != std::max(known, bound))
    a.wrong = std::to_string(std::max(known, bound)) + " vertices";
  else if (!is_clique(g, found.members)) a.wrong = "vertices that are all neighbours";
  return a;
}

}  // namespace apps::clique
