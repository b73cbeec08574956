// The plain program: each step is a loop over the blocks for each of its parts.
#pragma once

#include <vector>

#include "block.hpp"

namespace apps::md::sequential {

template <class System>
class simulation {
public:
  simulation(const System& s, const grid& g) : system_(s), grid_(g) {
    const auto n = static_cast<std::size_t>(g.blocks());
    const auto atoms = g.deal(s.position);
    for (int b = 0; b < g.blocks(); b++) blocks_.emplace_back(g, b, s, atoms[b]);
    halos_.assign(n, std::vector<halo>(half));
    reactions_.assign(n, std::vector<reaction>(half));
    leavers_.resize(n);
  }

  // The state at the beginning, then after each `every` steps and at the end.
  std::vector<typename System::found> run(int steps, int every) {
    std::vector<typename System::found> found;
    for (auto& b : blocks_) b.settle();
    new_list();
    forces(true);
    found.push_back(measure(0));
    for (int step = 1; step <= steps; step++) {
      const bool counts = step % every == 0 || step == steps;
      for (auto& b : blocks_) b.accelerate(system_, 0.5), b.drift(system_);
      if (step % system_.relist() == 0) {
        exchange();
        new_list();
      } else {
        ghosts(false);
      }
      forces(counts);
      for (auto& b : blocks_) b.accelerate(system_, 0.5);
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
    for (auto& b : blocks_) b.settle();
  }
  void ghosts(bool first) {
    for (int b = 0; b < grid_.blocks(); b++)
      for (int k = 0; k < half; k++) blocks_[b].give(k, halos_[b][k], first);
    for (int b = 0; b < grid_.blocks(); b++)
      for (int k = 0; k < half; k++)
        blocks_[b].take(k, halos_[grid_.neighbour(b, first_ahead + k)][k]);
  }
  void new_list() {
    ghosts(true);
    for (auto& b : blocks_) b.list(system_);
  }
  void forces(bool counts) {
    for (int b = 0; b < grid_.blocks(); b++) {
      blocks_[b].compute_forces(system_, counts);
      for (int k = 0; k < half; k++) blocks_[b].give_force(k, reactions_[b][k]);
    }
    for (int b = 0; b < grid_.blocks(); b++)
      for (int k = 0; k < half; k++) {
        const int behind = grid_.neighbour(b, opposite(first_ahead + k));
        blocks_[b].add_force(k, reactions_[behind][k]);
      }
  }
  typename System::found measure(int step) const {
    typename System::sums sum;
    for (const auto& b : blocks_) sum += b.energy(system_);
    return state_at(step, system_, sum);
  }

  const System& system_;
  grid grid_;
  std::vector<block<System>> blocks_;
  std::vector<std::vector<halo>> halos_;  // what each block gives to each neighbour
  std::vector<std::vector<reaction>> reactions_;
  std::vector<leavers> leavers_;
};

}  // namespace apps::md::sequential
