// The same three loops as nested sums. Parts of the outer one are slabs of the cube, which travel.
#pragma once

#include <cleave/cleave.hpp>
#include <tuple>

#include "particles.hpp"

namespace apps::gravity::parallel {

vec3 force(const particles& p, int first, int last);

struct slab {
  int n, first, last;
  auto input() { return std::tie(n, first, last); }
  vec3 run() { return force(particles(n), first, last); }
};

inline vec3 force(const particles& p, int first, int last) {
  return cleave::sum(
      first, last,
      [=](int x) {
        return cleave::sum(-p.n, p.n + 1, [=](int y) {
          return cleave::sum(-p.n, p.n + 1, [=](int z) { return p.pull(x, y, z); });
        });
      },
      [n = p.n](int from, int to) {
        return slab{n, from, to};
      });
}

inline vec3 force(const particles& p) { return force(p, -p.n, p.n + 1); }

}  // namespace apps::gravity::parallel
