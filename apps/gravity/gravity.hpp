// The three loops of sequential.hpp as nested sums. Parts of the outer one are slabs of the cube,
// which travel.
#pragma once

#include <cleave/cleave.hpp>

#include "particles.hpp"

namespace apps::gravity::parallel {

vec3 slab(int n, int first, int last);

inline vec3 force(const particles& p, int first, int last) {
  return cleave::sum(
      first, last,
      [=](int x) {
        return cleave::sum(-p.n, p.n + 1, [=](int y) {
          return cleave::sum(-p.n, p.n + 1, [=](int z) { return p.pull(x, y, z); });
        });
      },
      [n = p.n](int from, int to) { return cleave::call<slab>(n, from, to); });
}

inline vec3 slab(int n, int first, int last) { return force(particles(n), first, last); }

inline vec3 force(const particles& p) { return force(p, -p.n, p.n + 1); }

}  // namespace apps::gravity::parallel
