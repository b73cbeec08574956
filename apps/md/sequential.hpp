// The plain program: each step is a loop over the blocks for each of its parts.
#pragma once

#include <vector>

#include "block.hpp"

namespace apps::md::sequential {

class simulation {
public:
  simulation(const melt& m, const grid& g) : atoms_(m), grid_(g) {
    const auto n = static_cast<std::size_t>(g.blocks());
    const auto atoms = g.deal(m);
    for (int b = 0; b < g.blocks(); b++) blocks_.emplace_back(g, b, m, atoms[b]);
    halos_.assign(n, std::vector<halo>(half));
    reactions_ = halos_;
    leavers_.resize(n);
  }

  // The state at the beginning, then after each `every` steps and at the end.
  std::vector<state> run(int steps, int every) {
    std::vector<state> found;
    for (block& b : blocks_) b.settle();
    new_list();
    forces(true);
    found.push_back(measure(0));
    for (int step = 1; step <= steps; step++) {
      const bool counts = step % every == 0 || step == steps;
      for (block& b : blocks_) b.accelerate(0.5), b.drift();
      if (step % relist == 0) {
        exchange();
        new_list();
      } else {
        ghosts();
      }
      forces(counts);
      for (block& b : blocks_) b.accelerate(0.5);
      if (counts) found.push_back(measure(step));
    }
    return found;
  }

private:
  void exchange() {
    for (int b = 0; b < grid_.blocks(); b++) blocks_[b].leave(leavers_[b]);
    for (int b = 0; b < grid_.blocks(); b++)
      for (int side = 0; side < sides; side++)
        if (side != itself) blocks_[b].arrive(side, leavers_[grid_.neighbour(b, side)]);
    for (block& b : blocks_) b.settle();
  }
  void ghosts() {
    for (int b = 0; b < grid_.blocks(); b++)
      for (int k = 0; k < half; k++) blocks_[b].give(k, halos_[b][k]);
    for (int b = 0; b < grid_.blocks(); b++)
      for (int k = 0; k < half; k++)
        blocks_[b].take(k, halos_[grid_.neighbour(b, first_ahead + k)][k]);
  }
  void new_list() {
    ghosts();
    for (block& b : blocks_) b.list();
  }
  void forces(bool counts) {
    for (int b = 0; b < grid_.blocks(); b++) {
      blocks_[b].compute_forces(counts);
      for (int k = 0; k < half; k++) blocks_[b].give_force(k, reactions_[b][k]);
    }
    for (int b = 0; b < grid_.blocks(); b++)
      for (int k = 0; k < half; k++) {
        const int behind = grid_.neighbour(b, opposite(first_ahead + k));
        blocks_[b].add_force(k, reactions_[behind][k]);
      }
  }
  state measure(int step) const {
    energies sum;
    for (const block& b : blocks_) sum += b.energy();
    return state_at(step, atoms_, sum);
  }

  const melt& atoms_;
  grid grid_;
  std::vector<block> blocks_;
  std::vector<std::vector<halo>> halos_, reactions_;  // what each block gives to each neighbour
  std::vector<leavers> leavers_;
};

}  // namespace apps::md::sequential
