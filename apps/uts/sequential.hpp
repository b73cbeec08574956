// Walks an unbalanced tree depth first and counts it.
#pragma once

#include "tree.hpp"

namespace apps::uts::sequential {

inline tally search(const tree& t, const node& parent) {
  int children = t.children(parent);
  tally found{1, children == 0, parent.height};
  for (int i = 0; i < children; i++) found += search(t, parent.child(i));
  return found;
}

}  // namespace apps::uts::sequential
