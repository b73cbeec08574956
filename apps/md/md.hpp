// The simulation with each part of a step, of each block, as a subtask: it begins as soon as what
// it reads of its neighbours is there, whatever step others are at. (Parsley, section 4.)
#pragma once

#include <cleave/cleave.hpp>

#include <vector>

#include "block.hpp"
#include "observer.hpp"
#include "rank_times.hpp"
#include "told.hpp"

namespace apps::md::parallel {

using cleave::in, cleave::inout, cleave::out, cleave::values;

template <class System>
class simulation {
  using its_block = block<System>;
  using sums = typename System::sums;
  using state = typename System::found;

public:
  // Blocks are dealt to the nodes in slabs. `apart`: what a block tells each other one is a datum
  // by itself, as they may run elsewhere than they are dealt.
  simulation(const System& s, const grid& g, cleave::team_graph& in_graph, unsigned nodes,
             bool apart = false)
      : system_(s),
        grid_(g),
        atoms_of_(g.deal(s.position)),
        graph_(in_graph),
        steps_ahead_(apart ? 0 : 1 + subtasks_ahead * static_cast<int>(nodes) / (2 * g.blocks())) {
    const auto count = static_cast<unsigned>(g.blocks());
    for (unsigned b = 0; b < count; b++) {
      const unsigned home = b * nodes / count;
      parts_.push_back({home, make<its_block>(home), make<leavers>(home), {}, {}, {}, {}, {}});
      sums_.push_back(make<sums>(home));
    }
    for_all([&](int b, part& p) {
      for (int k = 0; k < half; k++) {
        const auto key = [&](int side) {
          const int to = g.neighbour(b, side);
          return apart ? to : static_cast<int>(parts_[to].home);
        };
        const int side = first_ahead + k;
        p.halos.add(k, key(opposite(side)), [&] { return make<std::vector<halo>>(p.home); });
        p.reactions.add(k, key(side), [&] { return make<std::vector<reaction>>(p.home); });
      }
    });
    // The neighbours are added in the order in which their data are taken.
    for (int b = 0; b < g.blocks(); b++) {
      for (int side = 0; side < sides; side++)
        if (side != itself) parts_[b].around.push_back(parts_[g.neighbour(b, side)].leaving);
      for (int k = 0; k < half; k++) {
        const int ahead = g.neighbour(b, first_ahead + k);
        const int behind = g.neighbour(b, opposite(first_ahead + k));
        parts_[b].of_ahead.read(k, parts_[ahead].halos, ahead);
        parts_[b].of_behind.read(k, parts_[behind].reactions, behind);
      }
    }
  }

  // From now on steps are bulk-synchronous: all blocks compute, then all that they tell each other
  // travels, and nothing goes on before it is there.
  void make_synchronous() { synchronous_ = true; }
  // From now on each part of a step is done before the next one is made. One worker alone loses
  // nothing by that, and that a subtask depends on what is done costs nothing.
  void make_lone() { lone_ = true; }

  // What sequential::simulation finds, bit for bit, on all nodes.
  std::vector<state> run(int steps, int every, const wishes& w = {}) {
    std::vector<state> values;
    times_.run([&] { values = run_steps(steps, every, w); });
    return values;
  }
  // What the ranks did in run(), on all nodes. `workers`: how many each of them has.
  std::vector<rank_times> times(unsigned nodes, int workers) {
    data<rank_times> of_ranks;
    for (unsigned rank = 0; rank < nodes; rank++) {
      of_ranks.push_back(make<rank_times>(rank));
      graph_.run(
          "times", [this, workers](rank_times& to) { to = times_.total(workers); },
          out(of_ranks.back()));
      graph_.bring(of_ranks.back());
    }
    graph_.wait();
    std::vector<rank_times> found;
    for (auto each : of_ranks) found.push_back(*each);
    return found;
  }

private:
  template <class T>
  using data = std::vector<cleave::datum<T>>;

  // The data of one block.
  struct part {
    unsigned home;
    cleave::datum<its_block> its;
    cleave::datum<leavers> leaving;
    told<halo> halos;  // what it gives to each neighbour
    told<reaction> reactions;
    // What it reads of others.
    data<leavers> around;  // in the order in which it reads
    told<halo> of_ahead;
    told<reaction> of_behind;
  };
  using halos_read = values<const std::vector<halo>>;
  using halos_told = values<std::vector<halo>>;
  using reactions_read = values<const std::vector<reaction>>;
  using reactions_told = values<std::vector<reaction>>;

  // ---- what subtasks do

  static void complete(const part& p, its_block& its, const reactions_read& reactions) {
    if (reactions.size() == 0) return;
    for (int k = 0; k < half; k++) its.add_force(k, p.of_behind.in(reactions, k));
  }
  // Does the second half of the step before; nothing, if that was done then.
  void finish(const part& p, its_block& its, const reactions_read& reactions) const {
    complete(p, its, reactions);
    if (reactions.size() != 0) its.accelerate(system_, 0.5);
  }
  void start(const part& p, its_block& its, const reactions_read& reactions) const {
    finish(p, its, reactions);
    its.accelerate(system_, 0.5);
    its.drift(system_);
  }
  static void give(const part& p, const its_block& its, const halos_told& halos, bool first) {
    for (int k = 0; k < half; k++) its.give(k, p.halos.in(halos, k), first);
  }
  static void settle(const part& p, its_block& its, const halos_told& halos) {
    its.settle();
    give(p, its, halos, true);
  }
  static void arrive(const part& p, its_block& its, const values<const leavers>& around,
                     const halos_told& halos) {
    for (int side = 0, k = 0; side < sides; side++)
      if (side != itself) its.arrive(side, around[k++]);
    settle(p, its, halos);
  }

  // ---- parts of a run

  std::vector<state> run_steps(int steps, int every, const wishes& w) {
    const observer watched(w, system_, steps);
    watched_ = &watched;
    auto order = make<int>(0);  // of what is told besides
    for_all([&](int b, part& p) {
      graph_.run(
          "begin", [this, b](its_block& its) { its = its_block(grid_, b, system_, atoms_of_[b]); },
          out(p.its));
      graph_.run(
          "settle", [&p](its_block& its, halos_told halos) { settle(p, its, halos); }, inout(p.its),
          out(p.halos.data()));
    });
    exchange([](const part& p) -> const auto& { return p.of_ahead.data(); });
    data<state> found;
    for (int step = 0; step <= steps; step++) {
      const bool moves = step % system_.relist() == 0;
      const bool counts = step % every == 0 || step == steps;
      if (step > 0) moves ? move() : advance();
      forces(moves, counts);
      if (steps_ahead_ != 0 && step % steps_ahead_ == steps_ahead_ - 1) graph_.wait();
      if (!counts) continue;
      found.push_back(measure(step));
      tell(step, found.back(), order);
    }
    for (auto each : found) graph_.bring(each);
    graph_.wait();
    std::vector<state> values;
    for (auto each : found) values.push_back(*each);
    return values;
  }

  template <class F>
  void for_all(const F& f) {
    for (int b = 0; b < grid_.blocks(); b++) f(b, parts_[b]);
  }
  // In bulk-synchronous steps: waits until all that blocks have written is where it is read next,
  // which are the data that read_next(part) returns.
  template <class ReadNext>
  void exchange(const ReadNext& read_next) {
    if (lone_ || synchronous_) graph_.wait();
    if (!synchronous_) return;
    times_.travel([&] {
      for_all([&](int, part& p) {
        graph_.run(
            "receive", [](const auto&) {}, in(read_next(p)), cleave::on(p.home));
      });
      graph_.wait();
    });
  }
  void move() {
    for_all([&](int, part& p) {
      graph_.run(
          "leave",
          [this, &p](its_block& its, reactions_read reactions, leavers& to) {
            times_.compute([&] {
              start(p, its, reactions);
              its.leave(to);
            });
          },
          inout(p.its), in(unfinished(p)), out(p.leaving));
    });
    exchange([](const part& p) -> const auto& { return p.around; });
    for_all([&](int, part& p) {
      graph_.run(
          "arrive",
          [this, &p](its_block& its, values<const leavers> around, halos_told halos) {
            times_.compute([&] { arrive(p, its, around, halos); });
          },
          inout(p.its), in(p.around), out(p.halos.data()));
    });
    exchange([](const part& p) -> const auto& { return p.of_ahead.data(); });
  }
  void advance() {
    for_all([&](int, part& p) {
      graph_.run(
          "advance",
          [this, &p](its_block& its, reactions_read reactions, halos_told halos) {
            times_.compute([&] { start(p, its, reactions); });
            times_.communicate([&] { give(p, its, halos, false); });
          },
          inout(p.its), in(unfinished(p)), out(p.halos.data()));
    });
    exchange([](const part& p) -> const auto& { return p.of_ahead.data(); });
  }
  void forces(bool moved, bool counts) {
    for_all([&](int, part& p) {
      graph_.run(
          "force",
          [=, this, &p](its_block& its, halos_read halos, reactions_told reactions) {
            times_.communicate([&] {
              for (int k = 0; k < half; k++) its.take(k, p.of_ahead.in(halos, k));
            });
            times_.compute([&] {
              if (moved) its.list(system_);
              its.compute_forces(system_, counts);
            });
            times_.communicate([&] {
              for (int k = 0; k < half; k++) its.give_force(k, p.reactions.in(reactions, k));
            });
          },
          inout(p.its), in(p.of_ahead.data()), out(p.reactions.data()));
    });
    finished_ = false;
    exchange([](const part& p) -> const auto& { return p.of_behind.data(); });
  }
  cleave::datum<state> measure(int step) {
    for_all([&](int b, part& p) {
      graph_.run(
          "measure",
          [=, this, &p](its_block& its, reactions_read reactions, sums& of_it) {
            step == 0 ? complete(p, its, reactions) : finish(p, its, reactions);
            of_it = its.energy(system_);
          },
          inout(p.its), in(unfinished(p)), out(sums_[b]));
    });
    finished_ = true;
    auto found = make<state>(0);
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
  void tell(int step, cleave::datum<state> found, cleave::datum<int> order) {
    if (watched_->tells())
      graph_.run(
          "tell", [this](const state& s, int&) { watched_->told(s); }, in(found), inout(order));
    if (!watched_->shows()) return;
    for (std::size_t b = frames_.size(); b < parts_.size(); b++)
      frames_.push_back(make<lammps::frame>(parts_[b].home));
    for_all([&](int b, part& p) {
      graph_.run(
          "show", [](const its_block& its, lammps::frame& to) { its.show(to); }, in(p.its),
          out(frames_[b]));
    });
    graph_.run(
        "write",
        [this, step](values<const lammps::frame> of_blocks, int&) {
          std::vector<const lammps::frame*> all;
          for (const lammps::frame& each : of_blocks) all.push_back(&each);
          watched_->show(step, all);
        },
        in(frames_), inout(order));
  }
  const typename told<reaction>::lists& unfinished(const part& p) const {
    return finished_ ? none_ : p.of_behind.data();
  }

  template <class T>
  cleave::datum<T> make(unsigned home) {
    auto made = graph_.template make<T>();
    graph_.set_home(made, home);
    return made;
  }

  // So many subtasks of a node, about, are made before others are done: not all steps are kept in
  // memory, and hardly anybody waits for anybody.
  static constexpr int subtasks_ahead = 2000;

  const System& system_;
  grid grid_;
  std::vector<std::vector<int>> atoms_of_;  // the atoms of each block
  cleave::team_graph& graph_;
  int steps_ahead_;        // steps that are made before others are done; 0: all
  bool finished_ = false;  // the step has been, also its second half
  bool synchronous_ = false, lone_ = false;
  std::vector<part> parts_;
  data<sums> sums_;
  data<lammps::frame> frames_;  // if they are shown
  const observer* watched_ = nullptr;
  const typename told<reaction>::lists none_;
  times_of_rank times_;
};

}  // namespace apps::md::parallel
