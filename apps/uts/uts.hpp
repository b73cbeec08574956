// The same walk with the loop over the children marked: what is left of them can be given away.
#pragma once

#include <cleave/cleave.hpp>

#include "tree.hpp"

namespace apps::uts::parallel {

tally subtrees(const tree& t, const node& parent, int first, int last);

// Children first to last - 1 of a node. It stays in the process, which the tree belongs to.
struct piece {
  const tree* t;
  node parent;
  int first, last;
  tally run() { return subtrees(*t, parent, first, last); }
};

inline tally search(const tree& t, const node& parent) {
  int children = t.children(parent);
  return tally{1, children == 0, parent.height} + subtrees(t, parent, 0, children);
}

inline tally subtrees(const tree& t, const node& parent, int first, int last) {
  return cleave::sum(
      first, last, [&](int i) { return search(t, parent.child(i)); },
      [&](int from, int to) {
        return piece{&t, parent, from, to};
      });
}

}  // namespace apps::uts::parallel
