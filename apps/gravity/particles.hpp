// The particles, and what one of them does to the point that is looked at.
#pragma once

#include <cmath>

#include "../common/vec3.hpp"

namespace apps::gravity {

// (2n+1)^3 particles of mass 1 on the integer points of the cube [-n, n]^3, seen from a point
// outside it.
struct particles {
  int n;
  vec3 seen_from;

  explicit particles(int size) : n(size), seen_from{4 * (n + 1.0), 3 * (n + 1.0), 12 * (n + 1.0)} {}

  vec3 pull(int x, int y, int z) const {
    vec3 d{x - seen_from.x, y - seen_from.y, z - seen_from.z};
    double square = d.x * d.x + d.y * d.y + d.z * d.z;
    return 1 / (square * std::sqrt(square)) * d;
  }
};

// The multipole expansion of the cube, for the check of the answer. The second and third moments
// of a cubic lattice vanish, so what is left out is of sixth order: below 1e-6 of the length.
inline vec3 expected(const particles& p) {
  double m1 = 2.0 * p.n + 1, m2 = 0, m4 = 0;  // moments of one axis
  for (int i = -p.n; i <= p.n; i++) {
    double square = double(i) * i;
    m2 += square;
    m4 += square * square;
  }
  double mass = m1 * m1 * m1;
  double fourth = 7.0 / 8.0 * (m4 * m1 * m1 - 3 * m2 * m2 * m1);
  const vec3& r = p.seen_from;
  double r2 = r.x * r.x + r.y * r.y + r.z * r.z;
  double q = r.x * r.x * r.x * r.x + r.y * r.y * r.y * r.y + r.z * r.z * r.z * r.z;
  double r1 = std::sqrt(r2), r3 = r1 * r2, r7 = r3 * r2 * r2, r9 = r7 * r2, r11 = r9 * r2;
  auto component = [&](double c) {
    return -mass * c / r3 + fourth * (20 * c * c * c / r9 - 45 * q * c / r11 + 15 * c / r7);
  };
  return {component(r.x), component(r.y), component(r.z)};
}

}  // namespace apps::gravity
