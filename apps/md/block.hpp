// The atoms of one block, with copies of those of others that are near: ghosts. Of two blocks that
// touch, one computes the forces between them: the one that the other is ahead of. So a block has
// ghosts of the 13 blocks ahead, and gives back the forces on them; the 13 behind have ghosts of
// its atoms.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

#include "grid.hpp"
#include "pairs.hpp"

namespace apps::md {

// What is told of the atoms that one of the blocks behind has as ghosts: positions, or the forces
// on them.
using halo = std::vector<vec3>;

// Atoms that go to other blocks: each to the neighbour at that side.
struct leavers {
  std::vector<int> side;
  std::vector<vec3> position, velocity;
  auto fields() { return std::tie(side, position, velocity); }
};

class block {
public:
  block() = default;
  // A block with these atoms; settle() comes next.
  block(const grid& g, int number, const melt& m, const std::vector<int>& its_atoms)
      : low_(g.low_of(number)), high_(g.high_of(number)) {
    for (int side = 0; side < sides; side++) shift_.push_back(g.shift(number, side));
    for (int i : its_atoms) add(m.position[i], m.velocity[i]);
  }

  // ---- each step

  // The forces are those of before, with what blocks behind have added: v += share * dt * f.
  void accelerate(double share) {
    for (std::size_t i = 0; i < own(); i++) velocity_[i] += share * time_step * force_[i];
  }
  void drift() {
    for (std::size_t i = 0; i < own(); i++) position_[i] += time_step * velocity_[i];
  }
  void add_force(int from_behind, const halo& reaction) {
    const std::vector<int>& these = given_[from_behind];
    for (std::size_t k = 0; k < these.size(); k++) force_[these[k]] += reaction[k];
  }
  // Gives positions to a block behind. `to_behind`, from 0 to 12, names the block that sees this
  // one at its side first_ahead + to_behind.
  void give(int to_behind, halo& to) const {
    const vec3 by = shift_[opposite(first_ahead + to_behind)];
    to.clear();
    for (int i : given_[to_behind]) to.push_back(position_[i] + by);
  }
  // Takes positions from the block at the side first_ahead + from_ahead. These calls come in order
  // of from_ahead.
  void take(int from_ahead, const halo& positions) {
    if (from_ahead == 0) position_.resize(own()), first_ghost_.assign(1, own());
    position_.insert(position_.end(), positions.begin(), positions.end());
    first_ghost_.push_back(position_.size());
  }
  void compute_forces(bool counts) {
    force_.assign(position_.size(), {});
    energy_ = counts ? add_forces<true>(pairs_, position_, force_)
                     : add_forces<false>(pairs_, position_, force_);
  }
  void give_force(int to_ahead, halo& to) const {
    to.assign(force_.begin() + static_cast<std::ptrdiff_t>(first_ghost_[to_ahead]),
              force_.begin() + static_cast<std::ptrdiff_t>(first_ghost_[to_ahead + 1]));
  }
  // The energies of the last compute_forces(), and of the velocities as they are.
  energies energy() const {
    energies sum = energy_;
    for (const vec3& v : velocity_) sum.motion += dot(v, v);
    return sum;
  }

  // ---- before a new list

  void leave(leavers& to) {
    to = {};
    position_.resize(own());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < own(); i++) {
      const int side = side_of(position_[i]);
      if (side == itself) {
        position_[kept] = position_[i];
        velocity_[kept++] = velocity_[i];
      } else {
        to.side.push_back(side);
        to.position.push_back(position_[i] + shift_[side]);
        to.velocity.push_back(velocity_[i]);
      }
    }
    position_.resize(kept);
    velocity_.resize(kept);
  }
  void arrive(int from_side, const leavers& of_it) {
    for (std::size_t k = 0; k < of_it.side.size(); k++)
      if (of_it.side[k] == opposite(from_side)) add(of_it.position[k], of_it.velocity[k]);
  }
  // Decides which atoms are ghosts elsewhere. All atoms that belong to this block are in it by now.
  void settle() {
    cells in(low_, high_);
    in.sort(position_);
    const auto old_position = position_, old_velocity = velocity_;
    for (std::size_t i = 0; i < own(); i++) {
      position_[i] = old_position[in.order()[i]];
      velocity_[i] = old_velocity[in.order()[i]];
    }
    given_.assign(half, {});
    for (int k = 0; k < half; k++)
      for (std::size_t i = 0; i < own(); i++)
        if (is_near(position_[i], first_ahead + k)) given_[k].push_back(static_cast<int>(i));
  }
  // Makes the list of pairs. All ghosts have been taken by now.
  void list() { list_pairs(low_, high_, position_, own(), pairs_); }

  std::size_t own() const { return velocity_.size(); }
  auto fields() {
    return std::tie(low_, high_, shift_, position_, velocity_, force_, given_, first_ghost_, pairs_,
                    energy_);
  }

private:
  void add(const vec3& p, const vec3& v) {
    position_.push_back(p);
    velocity_.push_back(v);
  }
  int side_of(const vec3& p) const {
    const auto along = [](double at, double low, double high) {
      return at < low ? 0 : at < high ? 1 : 2;
    };
    return (along(p.x, low_.x, high_.x) * 3 + along(p.y, low_.y, high_.y)) * 3 +
           along(p.z, low_.z, high_.z);
  }
  // Whether a block that has this one at that side needs it.
  bool is_near(const vec3& p, int side) const {
    const auto along = [](int off, double at, double low, double high) {
      return off == 0 || (off > 0 ? at < low + reach : at >= high - reach);
    };
    const auto off = offset(side);
    return along(off[0], p.x, low_.x, high_.x) && along(off[1], p.y, low_.y, high_.y) &&
           along(off[2], p.z, low_.z, high_.z);
  }

  vec3 low_, high_;
  std::vector<vec3> shift_;                        // shifts of the neighbours, by side
  std::vector<vec3> position_, velocity_, force_;  // own atoms; of position and force ghosts, too
  std::vector<std::vector<int>> given_;            // own atoms, by the block behind
  std::vector<std::size_t> first_ghost_;  // the first ghost of each block ahead, and the end
  pair_list pairs_;
  energies energy_;
};

}  // namespace apps::md
