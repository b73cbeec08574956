// The total force of all particles on one point: three nested loops, Tascell's Grav(n).
#pragma once

#include "particles.hpp"

namespace apps::gravity::sequential {

inline vec3 force(const particles& p, int first, int last) {
  vec3 total;
  for (int x = first; x < last; x++)
    for (int y = -p.n; y <= p.n; y++)
      for (int z = -p.n; z <= p.n; z++) total += p.pull(x, y, z);
  return total;
}

inline vec3 force(const particles& p) { return force(p, -p.n, p.n + 1); }

}  // namespace apps::gravity::sequential
