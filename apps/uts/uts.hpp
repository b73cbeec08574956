// The walk over a tree with the loop over the children marked: what is left of them can be given
// away.
#pragma once

#include <cleave/cleave.hpp>

#include "tree.hpp"

namespace apps::uts::parallel {

// Searches the children first to last - 1 of a node.
tally subtrees(const tree& t, const node& parent, int first, int last);
// subtrees() as a task: a tree is soon made of its parameters.
tally part(const parameters& p, const node& parent, int first, int last);

inline tally search(const tree& t, const node& parent) {
  int children = t.children(parent);
  tally found{1, children == 0, parent.height};
  if (children > 0) found += subtrees(t, parent, 0, children);
  return found;
}

inline tally subtrees(const tree& t, const node& parent, int first, int last) {
  return cleave::sum(
      first, last, [&](int i) { return search(t, parent.child(i)); },
      [&](int from, int to) { return cleave::call<part>(t.made_of(), parent, from, to); });
}

inline tally part(const parameters& p, const node& parent, int first, int last) {
  return subtrees(tree(p), parent, first, last);
}

}  // namespace apps::uts::parallel
