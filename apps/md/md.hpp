// The simulation with each part of a step, of each block, as a subtask: it begins as soon as what
// it reads of its neighbours is there, whatever step others are at. (Parsley, section 4.)
#pragma once

#include <cleave/cleave.hpp>

#include <vector>

#include "block.hpp"

namespace apps::md::parallel {

using cleave::in, cleave::inout, cleave::out, cleave::values;

template <class System>
class simulation {
  using its_block = block<System>;
  using sums = typename System::sums;
  using state = typename System::found;

public:
  // Blocks are dealt to the nodes in slabs.
  simulation(const System& s, const grid& g, cleave::team_graph& in_graph, unsigned nodes)
      : system_(s), grid_(g), atoms_of_(g.deal(s.position)), graph_(in_graph) {
    const auto count = static_cast<unsigned>(g.blocks());
    for (unsigned b = 0; b < count; b++) {
      const unsigned home = b * nodes / count;
      blocks_.push_back(at(home, graph_.template make<its_block>()));
      leavers_.push_back(at(home, graph_.template make<leavers>()));
      sums_.push_back(at(home, graph_.template make<sums>()));
      halos_.emplace_back();
      reactions_.emplace_back();
      for (int k = 0; k < half; k++) {
        halos_[b].push_back(at(home, graph_.template make<halo>()));
        reactions_[b].push_back(at(home, graph_.template make<reaction>()));
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
          "begin", [this, b](its_block& its) { its = its_block(grid_, b, system_, atoms_of_[b]); },
          out(blocks_[b]));
      graph_.run("settle", settle, inout(blocks_[b]), out(halos_[b]));
    });
    forces(true, true);
    std::vector<cleave::datum<state>> found{measure(0)};
    for (int step = 1; step <= steps; step++) {
      const bool moves = step % system_.relist() == 0, counts = step % every == 0 || step == steps;
      if (moves) {
        for_all([&](int b) {
          graph_.run(
              "leave",
              [this](its_block& its, values<const reaction> reactions, leavers& to) {
                start(its, reactions);
                its.leave(to);
              },
              inout(blocks_[b]), in(unfinished(b)), out(leavers_[b]));
        });
        for_all([&](int b) {
          graph_.run("arrive", arrive, inout(blocks_[b]), in(around_[b]), out(halos_[b]));
        });
      } else {
        for_all([&](int b) {
          graph_.run(
              "advance",
              [this](its_block& its, values<const reaction> reactions, values<halo> halos) {
                start(its, reactions);
                give(its, halos, false);
              },
              inout(blocks_[b]), in(unfinished(b)), out(halos_[b]));
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

  // ---- what subtasks do

  static void complete(its_block& its, const values<const reaction>& reactions) {
    for (int k = 0; k < static_cast<int>(reactions.size()); k++) its.add_force(k, reactions[k]);
  }
  // Does the second half of the step before; nothing, if that was done then.
  void finish(its_block& its, const values<const reaction>& reactions) const {
    complete(its, reactions);
    if (reactions.size() != 0) its.accelerate(system_, 0.5);
  }
  void start(its_block& its, const values<const reaction>& reactions) const {
    finish(its, reactions);
    its.accelerate(system_, 0.5);
    its.drift(system_);
  }
  static void give(const its_block& its, const values<halo>& halos, bool first) {
    for (int k = 0; k < half; k++) its.give(k, halos[k], first);
  }
  static void settle(its_block& its, values<halo> halos) {
    its.settle();
    give(its, halos, true);
  }
  static void arrive(its_block& its, values<const leavers> around, values<halo> halos) {
    for (int side = 0, k = 0; side < sides; side++)
      if (side != itself) its.arrive(side, around[k++]);
    settle(its, halos);
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
          [=, this](its_block& its, values<const halo> halos, values<reaction> reactions) {
            for (int k = 0; k < half; k++) its.take(k, halos[k]);
            if (moved) its.list(system_);
            its.compute_forces(system_, counts);
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
          [=, this](its_block& its, values<const reaction> reactions, sums& of_it) {
            step == 0 ? complete(its, reactions) : finish(its, reactions);
            of_it = its.energy(system_);
          },
          inout(blocks_[b]), in(unfinished(b)), out(sums_[b]));
    });
    finished_ = true;
    auto found = at(0, graph_.template make<state>());
    graph_.run(
        "sum",
        [this, step](values<const sums> all, state& to) {
          sums sum;
          for (const sums& each : all) sum += each;
          to = state_at(step, system_, sum);
        },
        in(sums_), out(found));
    return found;
  }
  const data<reaction>& unfinished(int b) const {
    return finished_ ? none_ : reactions_of_behind_[b];
  }

  template <class T>
  cleave::datum<T> at(unsigned home, cleave::datum<T> d) {
    graph_.set_home(d, home);
    return d;
  }

  const System& system_;
  grid grid_;
  std::vector<std::vector<int>> atoms_of_;  // the atoms of each block
  cleave::team_graph& graph_;
  bool finished_ = false;  // the step has been, also its second half
  data<its_block> blocks_;
  data<leavers> leavers_;
  data<sums> sums_;
  std::vector<data<halo>> halos_;  // what each block gives to each neighbour
  std::vector<data<reaction>> reactions_;
  // What a block reads, in the order in which it reads.
  std::vector<data<leavers>> around_;
  std::vector<data<halo>> halos_of_ahead_;
  std::vector<data<reaction>> reactions_of_behind_;
  const data<reaction> none_;
};

}  // namespace apps::md::parallel
