// The terms between bonded atoms: each takes its atoms' places in `position`, adds to their forces,
// and returns its energy and its virial, the sum of r·F.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "../common/vec3.hpp"
#include "../lammps/force_field.hpp"

namespace apps::md {

struct term_sums {
  double energy = 0, virial = 0;
  term_sums& operator+=(const term_sums& b) {
    energy += b.energy;
    virial += b.virial;
    return *this;
  }
};

// Places of a term's atoms; bonds have two, angles three.
using places = std::array<int, 4>;

inline vec3 cross(const vec3& a, const vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A spring between two atoms: k (r − length)².
inline term_sums add_spring(double k, double length_at_rest, int i, int j,
                            std::span<const vec3> position, std::span<vec3> force) {
  const vec3 d = position[i] - position[j];
  const double r = length(d), stretch = r - length_at_rest;
  const double strength = r > 0 ? -2 * k * stretch / r : 0;
  force[i] += strength * d;
  force[j] -= strength * d;
  return {k * stretch * stretch, strength * r * r};
}

inline term_sums add_term(const lammps::bond_parameters& p, const places& at,
                          std::span<const vec3> position, std::span<vec3> force) {
  return add_spring(p.k, p.length, at[0], at[1], position, force);
}

inline term_sums add_term(const lammps::angle_parameters& p, const places& at,
                          std::span<const vec3> position, std::span<vec3> force) {
  constexpr double least_sine = 0.001;  // as in LAMMPS: the force of a straight angle is finite
  const vec3 a = position[at[0]] - position[at[1]], b = position[at[2]] - position[at[1]];
  const double a2 = dot(a, a), b2 = dot(b, b), ab = std::sqrt(a2 * b2);
  const double c = std::clamp(dot(a, b) / ab, -1.0, 1.0);
  const double s = std::max(std::sqrt(1 - c * c), least_sine);
  const double bend = std::acos(c) - p.angle, torque = -2 * p.k * bend / s;
  const vec3 on_a = torque * (c / a2 * a - 1 / ab * b), on_b = torque * (c / b2 * b - 1 / ab * a);
  force[at[0]] += on_a;
  force[at[2]] += on_b;
  force[at[1]] -= on_a + on_b;
  term_sums sum{p.k * bend * bend, dot(on_a, a) + dot(on_b, b)};
  if (p.k13 != 0) sum += add_spring(p.k13, p.length13, at[0], at[2], position, force);
  return sum;
}

// The angle φ between the planes of the first three and the last three of four atoms.
class torsion {
public:
  torsion(const places& at, std::span<const vec3> position)
      : at_(at),
        f_(position[at[0]] - position[at[1]]),
        g_(position[at[1]] - position[at[2]]),
        h_(position[at[3]] - position[at[2]]),
        a_(cross(f_, g_)),
        b_(cross(h_, g_)),
        length_g_(length(g_)) {
    const double ab = std::sqrt(dot(a_, a_) * dot(b_, b_));
    cosine_ = std::clamp(dot(a_, b_) / ab, -1.0, 1.0);
    sine_ = dot(cross(b_, a_), g_) / (ab * length_g_);
  }
  double cosine() const { return cosine_; }
  double sine() const { return sine_; }

  // Adds the forces of a potential whose derivative by φ is that. Returns the virial, which is 0: φ
  // does not change when all distances are scaled.
  void add(double derivative, std::span<vec3> force) const {
    const double a2 = dot(a_, a_), b2 = dot(b_, b_);
    const vec3 on_first = derivative * length_g_ / a2 * a_;
    const vec3 on_last = -derivative * length_g_ / b2 * b_;
    const vec3 between =
        derivative * (dot(f_, g_) / (a2 * length_g_) * a_ - dot(h_, g_) / (b2 * length_g_) * b_);
    force[at_[0]] += on_first;
    force[at_[1]] -= on_first + between;
    force[at_[2]] += between - on_last;
    force[at_[3]] += on_last;
  }

private:
  const places& at_;
  vec3 f_, g_, h_, a_, b_;
  double length_g_, cosine_ = 0, sine_ = 0;
};

inline term_sums add_term(const lammps::dihedral_parameters& p, const places& at,
                          std::span<const vec3> position, std::span<vec3> force) {
  const torsion phi(at, position);
  double c = 1, s = 0;  // of n φ
  for (int n = 0; n < p.n; n++) {
    const double next = c * phi.cosine() - s * phi.sine();
    s = s * phi.cosine() + c * phi.sine();
    c = next;
  }
  phi.add(-p.k * p.n * (s * p.cos_shift - c * p.sin_shift), force);
  return {p.k * (1 + c * p.cos_shift + s * p.sin_shift), 0};
}

inline term_sums add_term(const lammps::improper_parameters& p, const places& at,
                          std::span<const vec3> position, std::span<vec3> force) {
  const torsion phi(at, position);
  const double bend = std::atan2(std::abs(phi.sine()), phi.cosine()) - p.angle;
  // As LAMMPS does, a plane that is hardly bent (|sin φ| below 0.001) is pushed back less.
  phi.add(2 * p.k * bend * phi.sine() / std::max(std::abs(phi.sine()), 0.001), force);
  return {p.k * bend * bend, 0};
}

}  // namespace apps::md
