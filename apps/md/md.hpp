// The simulation with each part of a step, of each block, as a subtask: it begins as soon as what
// it reads of its neighbours is there, whatever step others are at. (Parsley, section 4.)
#pragma once

#include <cleave/cleave.hpp>

#include <vector>

#include "block.hpp"

namespace apps::md::parallel {

using cleave::in, cleave::inout, cleave::out, cleave::values;

class simulation {
public:
  // Blocks are dealt to the nodes in slabs.
  simulation(const melt& m, const grid& g, cleave::team_graph& in_graph, unsigned nodes)
      : atoms_(m), grid_(g), atoms_of_(g.deal(m)), graph_(in_graph) {
    const auto count = static_cast<unsigned>(g.blocks());
    for (unsigned b = 0; b < count; b++) {
      const unsigned home = b * nodes / count;
      blocks_.push_back(at(home, graph_.make<block>()));
      leavers_.push_back(at(home, graph_.make<leavers>()));
      energies_.push_back(at(home, graph_.make<energies>()));
      halos_.emplace_back();
      reactions_.emplace_back();
      for (int k = 0; k < half; k++) {
        halos_[b].push_back(at(home, graph_.make<halo>()));
        reactions_[b].push_back(at(home, graph_.make<halo>()));
      }
    }
    // The neighbours are added in the order in which their data are taken.
    for (int b = 0; b < g.blocks(); b++) {
      around_.emplace_back();
      halos_of_ahead_.emplace_back();
      reactions_of_behind_.emplace_back();
      for (int side = 0; side < sides; side++)
        if (side != itself) around_[b].push_back(leavers_[g.neighbour(b, side)]);
      for (int k = 0; k < half; k++) {
        halos_of_ahead_[b].push_back(halos_[g.neighbour(b, first_ahead + k)][k]);
        reactions_of_behind_[b].push_back(reactions_[g.neighbour(b, opposite(first_ahead + k))][k]);
      }
    }
  }

  // What sequential::simulation finds, bit for bit, on all nodes.
  std::vector<state> run(int steps, int every) {
    for_all([&](int b) {
      graph_.run(
          "begin", [this, b](block& its) { its = block(grid_, b, atoms_, atoms_of_[b]); },
          out(blocks_[b]));
      graph_.run("settle", settle, inout(blocks_[b]), out(halos_[b]));
    });
    forces(true, true);
    std::vector<cleave::datum<state>> found{measure(0)};
    for (int step = 1; step <= steps; step++) {
      const bool moves = step % relist == 0, counts = step % every == 0 || step == steps;
      if (moves) {
        for_all([&](int b) {
          graph_.run("leave", leave, inout(blocks_[b]), in(unfinished(b)), out(leavers_[b]));
        });
        for_all([&](int b) {
          graph_.run("arrive", arrive, inout(blocks_[b]), in(around_[b]), out(halos_[b]));
        });
      } else {
        for_all([&](int b) {
          graph_.run("advance", advance, inout(blocks_[b]), in(unfinished(b)), out(halos_[b]));
        });
      }
      forces(moves, counts);
      if (counts) found.push_back(measure(step));
    }
    for (auto each : found) graph_.bring(each);
    graph_.wait();
    std::vector<state> values;
    for (auto each : found) values.push_back(*each);
    return values;
  }

private:
  template <class T>
  using data = std::vector<cleave::datum<T>>;

  // ---- subtasks

  static void complete(block& its, const values<const halo>& reactions) {
    for (int k = 0; k < static_cast<int>(reactions.size()); k++) its.add_force(k, reactions[k]);
  }
  // Does the second half of the step before; nothing, if that was done then.
  static void finish(block& its, const values<const halo>& reactions) {
    complete(its, reactions);
    if (reactions.size() != 0) its.accelerate(0.5);
  }
  static void start(block& its, const values<const halo>& reactions) {
    finish(its, reactions);
    its.accelerate(0.5);
    its.drift();
  }
  static void give(const block& its, const values<halo>& halos) {
    for (int k = 0; k < half; k++) its.give(k, halos[k]);
  }
  static void advance(block& its, values<const halo> reactions, values<halo> halos) {
    start(its, reactions);
    give(its, halos);
  }
  static void leave(block& its, values<const halo> reactions, leavers& to) {
    start(its, reactions);
    its.leave(to);
  }
  static void arrive(block& its, values<const leavers> around, values<halo> halos) {
    for (int side = 0, k = 0; side < sides; side++)
      if (side != itself) its.arrive(side, around[k++]);
    settle(its, halos);
  }
  static void settle(block& its, values<halo> halos) {
    its.settle();
    give(its, halos);
  }

  // ---- parts of a step

  template <class F>
  void for_all(const F& f) const {
    for (int b = 0; b < grid_.blocks(); b++) f(b);
  }
  void forces(bool moved, bool counts) {
    for_all([&](int b) {
      graph_.run(
          "force",
          [=](block& its, values<const halo> halos, values<halo> reactions) {
            for (int k = 0; k < half; k++) its.take(k, halos[k]);
            if (moved) its.list();
            its.compute_forces(counts);
            for (int k = 0; k < half; k++) its.give_force(k, reactions[k]);
          },
          inout(blocks_[b]), in(halos_of_ahead_[b]), out(reactions_[b]));
    });
    finished_ = false;
  }
  cleave::datum<state> measure(int step) {
    for_all([&](int b) {
      graph_.run(
          "measure",
          [=](block& its, values<const halo> reactions, energies& of_it) {
            step == 0 ? complete(its, reactions) : finish(its, reactions);
            of_it = its.energy();
          },
          inout(blocks_[b]), in(unfinished(b)), out(energies_[b]));
    });
    finished_ = true;
    auto found = at(0, graph_.make<state>());
    graph_.run(
        "sum",
        [this, step](values<const energies> all, state& to) {
          energies sum;
          for (const energies& each : all) sum += each;
          to = state_at(step, atoms_, sum);
        },
        in(energies_), out(found));
    return found;
  }
  const data<halo>& unfinished(int b) const { return finished_ ? none_ : reactions_of_behind_[b]; }

  template <class T>
  cleave::datum<T> at(unsigned home, cleave::datum<T> d) {
    graph_.set_home(d, home);
    return d;
  }

  const melt& atoms_;
  grid grid_;
  std::vector<std::vector<int>> atoms_of_;  // the atoms of each block
  cleave::team_graph& graph_;
  bool finished_ = false;  // the step has been, also its second half
  data<block> blocks_;
  data<leavers> leavers_;
  data<energies> energies_;
  std::vector<data<halo>> halos_, reactions_;  // what each block gives to each neighbour
  // What a block reads, in the order in which it reads.
  std::vector<data<leavers>> around_;
  std::vector<data<halo>> halos_of_ahead_, reactions_of_behind_;
  const data<halo> none_;
};

}  // namespace apps::md::parallel
