// The plain program: each step is a loop over the blocks for each of its parts.
#pragma once

#include <vector>

#include "block.hpp"
#include "observer.hpp"

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
  std::vector<typename System::found> run(int steps, int every, const wishes& w = {}) {
    const observer watched(w, system_, steps);
    std::vector<typename System::found> found;
    for (auto& b : blocks_) b.settle();
    for (int step = 0; step <= steps; step++) {
      const bool moves = step % system_.relist() == 0;
      const bool counts = step % every == 0 || step == steps;
      if (step > 0) {
        for (auto& b : blocks_) b.accelerate(system_, 0.5), b.drift(system_);
        if (moves) exchange();
      }
      moves ? new_list() : ghosts(false);
      forces(counts);
      if (step > 0)
        for (auto& b : blocks_) b.accelerate(system_, 0.5);
      if (!counts) continue;
      found.push_back(measure(step));
      watched.told(found.back());
      if (watched.shows()) show(step, watched);
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
  void show(int step, const observer& watched) {
    frames_.resize(blocks_.size());
    std::vector<const lammps::frame*> parts;
    for (std::size_t b = 0; b < blocks_.size(); b++) {
      blocks_[b].show(frames_[b]);
      parts.push_back(&frames_[b]);
    }
    watched.show(step, parts);
  }

  const System& system_;
  grid grid_;
  std::vector<block<System>> blocks_;
  std::vector<std::vector<halo>> halos_;  // what each block gives to each neighbour
  std::vector<std::vector<reaction>> reactions_;
  std::vector<leavers> leavers_;
  std::vector<lammps::frame> frames_;  // if they are shown
};

}  // namespace apps::md::sequential
