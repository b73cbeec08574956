// The atoms of one block, with copies of those of others that are near: ghosts. Of two blocks that
// touch, one computes the forces between them: the one that the other is ahead of. So a block has
// ghosts of the 13 blocks ahead, and gives back the forces on them; the 13 behind have ghosts of
// its atoms.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

#include "../lammps/trajectory.hpp"
#include "grid.hpp"
#include "pairs.hpp"

namespace apps::md {

// What is told of the atoms that one of the blocks behind has as ghosts.
struct halo {
  std::vector<vec3> position;
  std::vector<int> atom;  // their numbers, when a new list is to be made
  auto fields() { return std::tie(position, atom); }
};
// The forces on ghosts.
using reaction = std::vector<vec3>;

// Atoms that go to other blocks: each to the neighbour at that side.
struct leavers {
  std::vector<int> side;
  std::vector<int> atom;
  std::vector<vec3> position, velocity;
  auto fields() { return std::tie(side, atom, position, velocity); }
};

template <class System>
class block {
public:
  block() = default;
  // A block with these atoms; settle() comes next.
  block(const grid& g, int number, const System& s, const std::vector<int>& its_atoms)
      : low_(g.low_of(number)), high_(g.high_of(number)), reach_(g.reach) {
    for (int side = 0; side < sides; side++) shift_.push_back(g.shift(number, side));
    for (int i : its_atoms) add(i, s.position[i], s.velocity[i]);
  }

  // ---- each step

  // The forces are those of before, with what blocks behind have added: v += share * dt * f.
  void accelerate(const System& s, double share) {
    for (std::size_t i = 0; i < own(); i++) velocity_[i] += s.push(atom_[i], share) * force_[i];
  }
  void drift(const System& s) {
    for (std::size_t i = 0; i < own(); i++) position_[i] += s.drift() * velocity_[i];
  }
  void add_force(int from_behind, const reaction& r) {
    const std::vector<int>& these = given_[from_behind];
    for (std::size_t k = 0; k < these.size(); k++) force_[these[k]] += r[k];
  }
  // Gives positions to a block behind. `to_behind`, from 0 to 12, names the block that sees this
  // one at its side first_ahead + to_behind. `first`: a new list is to be made.
  void give(int to_behind, halo& to, bool first) const {
    const vec3 by = shift_[opposite(first_ahead + to_behind)];
    to.position.clear(), to.atom.clear();
    for (int i : given_[to_behind]) to.position.push_back(position_[i] + by);
    if (first)
      for (int i : given_[to_behind]) to.atom.push_back(atom_[i]);
  }
  // Takes positions from the block at the side first_ahead + from_ahead. These calls come in order
  // of from_ahead.
  void take(int from_ahead, const halo& ghosts) {
    if (from_ahead == 0) position_.resize(own()), first_ghost_.assign(1, own());
    position_.insert(position_.end(), ghosts.position.begin(), ghosts.position.end());
    atom_.insert(atom_.end(), ghosts.atom.begin(), ghosts.atom.end());
    first_ghost_.push_back(position_.size());
  }
  void compute_forces(const System& s, bool counts) {
    force_.assign(position_.size(), {});
    sums_ = counts ? add_forces<true>(s, neighbours_, position_, force_)
                   : add_forces<false>(s, neighbours_, position_, force_);
  }
  void give_force(int to_ahead, reaction& to) const {
    to.assign(force_.begin() + static_cast<std::ptrdiff_t>(first_ghost_[to_ahead]),
              force_.begin() + static_cast<std::ptrdiff_t>(first_ghost_[to_ahead + 1]));
  }
  // The energies of the last compute_forces(), and of the velocities as they are.
  typename System::sums energy(const System& s) const {
    auto sum = sums_;
    for (std::size_t i = 0; i < own(); i++) sum.motion += s.motion(atom_[i], velocity_[i]);
    return sum;
  }

  // Its own atoms as they are after the step.
  void show(lammps::frame& to) const {
    const auto n = static_cast<std::ptrdiff_t>(own());
    to.atom.assign(atom_.begin(), atom_.begin() + n);
    to.position.assign(position_.begin(), position_.begin() + n);
    to.velocity.assign(velocity_.begin(), velocity_.begin() + n);
    to.force.assign(force_.begin(), force_.begin() + n);
  }

  // ---- before a new list

  void leave(leavers& to) {
    to = {};
    position_.resize(own()), atom_.resize(own());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < own(); i++) {
      const int side = side_of(position_[i]);
      if (side == itself) {
        atom_[kept] = atom_[i];
        position_[kept] = position_[i];
        velocity_[kept++] = velocity_[i];
      } else {
        to.side.push_back(side);
        to.atom.push_back(atom_[i]);
        to.position.push_back(position_[i] + shift_[side]);
        to.velocity.push_back(velocity_[i]);
      }
    }
    atom_.resize(kept);
    position_.resize(kept);
    velocity_.resize(kept);
  }
  void arrive(int from_side, const leavers& of_it) {
    for (std::size_t k = 0; k < of_it.side.size(); k++)
      if (of_it.side[k] == opposite(from_side))
        add(of_it.atom[k], of_it.position[k], of_it.velocity[k]);
  }
  // Decides which atoms are ghosts elsewhere. All atoms that belong to this block are in it by now.
  void settle() {
    cells in(low_, high_, reach_);
    in.sort(position_);
    const auto old_atom = atom_;
    const auto old_position = position_, old_velocity = velocity_;
    for (std::size_t i = 0; i < own(); i++) {
      atom_[i] = old_atom[in.order()[i]];
      position_[i] = old_position[in.order()[i]];
      velocity_[i] = old_velocity[in.order()[i]];
    }
    given_.assign(half, {});
    for (int k = 0; k < half; k++)
      for (std::size_t i = 0; i < own(); i++)
        if (is_near(position_[i], first_ahead + k)) given_[k].push_back(static_cast<int>(i));
  }
  // Makes the list of neighbours. All ghosts have been taken by now.
  void list(const System& s) {
    list_neighbours(s, low_, high_, position_, atom_, own(), neighbours_);
  }

  std::size_t own() const { return velocity_.size(); }
  auto fields() {
    return std::tie(low_, high_, reach_, shift_, atom_, position_, velocity_, force_, given_,
                    first_ghost_, neighbours_, sums_);
  }

private:
  void add(int atom, const vec3& p, const vec3& v) {
    atom_.push_back(atom);
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
    const auto along = [this](int off, double at, double low, double high) {
      return off == 0 || (off > 0 ? at < low + reach_ : at >= high - reach_);
    };
    const auto off = offset(side);
    return along(off[0], p.x, low_.x, high_.x) && along(off[1], p.y, low_.y, high_.y) &&
           along(off[2], p.z, low_.z, high_.z);
  }

  vec3 low_, high_;
  double reach_ = 0;                               // how far away listed pairs are
  std::vector<vec3> shift_;                        // shifts of the neighbours, by side
  std::vector<int> atom_;                          // the numbers of own atoms and ghosts
  std::vector<vec3> position_, velocity_, force_;  // own atoms; of position and force ghosts, too
  std::vector<std::vector<int>> given_;            // own atoms, by the block behind
  std::vector<std::size_t> first_ghost_;  // the first ghost of each block ahead, and the end
  typename System::neighbours neighbours_;
  typename System::sums sums_;
};

}  // namespace apps::md
