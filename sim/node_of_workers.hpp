#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "protocol/strategy.hpp"
#include "sim/agenda.hpp"
#include "sim/shared_tree.hpp"
#include "sim/workers.hpp"

namespace sim {

/// A worker's requests are as those of the library: posted, seen by who is rung, answered once.
struct thread {
  enum class state : std::uint8_t { computing, joining, idle } is = state::idle;
  std::uint32_t stack = 0;

  bool asks = false;
  std::uint32_t wanted = none;  ///< asks for a part of this
  std::uint32_t given = none;   ///< what was handed to it

  nanoseconds rung_at = never;     ///< from when it sees that somebody asks
  bool parked = false;             ///< it looks again when it begins a loop
  bool lingers = false;            ///< a join that has not asked yet
  nanoseconds computes_until = 0;  ///< answers take a fifth of its time
  nanoseconds waits_since = 0;
  std::deque<std::uint32_t> ready;  ///< what was given together with what it runs
};

struct times {
  nanoseconds computing = 0, answering = 0, waiting = 0, idle = 0;
};

/// One node, whose workers act one after the other in the order of their clocks. What a worker
/// writes is seen by others a line later.
class node_of_workers {
public:
  node_of_workers(const tree& work, const workers_run& run)
      : shared_(work),
        how_(run),
        agenda_(run.workers),
        threads_(run.workers),
        stacks_(run.workers),
        random_(run.seed),
        size_(work.nodes()) {
    result_.run = run;
    for (std::uint32_t i = 0; i < run.workers; ++i) threads_[i].stack = i;
  }

  workers_result run();

private:
  loop_stack& stack_of(const thread& w);
  bool anybody_asks() const;
  // What a worker does with its time.
  void act(std::uint32_t i);
  bool answers_now(const thread& w, nanoseconds t) const;
  void poll(std::uint32_t i, nanoseconds t);
  void go_on(std::uint32_t i, nanoseconds t);
  // Joins.
  bool is_done(std::uint32_t p);
  void join(std::uint32_t i, std::uint32_t p, nanoseconds t);
  void joined(std::uint32_t i, nanoseconds t);
  /// Takes back a part that nobody has begun.
  bool take_back(std::uint32_t p, nanoseconds t);
  void ask_in_join(std::uint32_t i, nanoseconds t);
  void serve_in_join(std::uint32_t i, nanoseconds t);
  void spend_wait(thread& w, nanoseconds t);
  // Parts.
  void begin(std::uint32_t i, std::uint32_t p, nanoseconds t);
  void end_part(std::uint32_t i, nanoseconds t);
  void take_up(std::uint32_t i, std::uint32_t stack, nanoseconds t);
  std::uint32_t free_stack();
  workers_result finished();

  // Asking and giving (workers_division.cpp).
  void find_work(std::uint32_t i, nanoseconds t);
  void ask(std::uint32_t i, std::uint32_t wanted, std::uint32_t likely, nanoseconds t);
  std::uint32_t any_other(std::uint32_t i);
  void ring(std::uint32_t i, nanoseconds t);
  nanoseconds serve(std::uint32_t i, nanoseconds t);
  shared_tree::found find(const thread& w, std::uint32_t wanted);
  /// Gives a part that this worker was given, and has not begun.
  bool give_ready(std::uint32_t i, std::uint32_t asker, nanoseconds t, nanoseconds& took);
  /// Returns whether others that ask can be served too.
  bool give(std::uint32_t i, std::uint32_t asker, std::uint32_t loop, unsigned& others,
            nanoseconds t, nanoseconds& took);
  void give_loops(std::uint32_t i, std::uint32_t asker, std::uint32_t first, nanoseconds t,
                  nanoseconds& took);
  void hand(std::uint32_t asker, std::uint32_t p, nanoseconds t);

  shared_tree shared_;
  const workers_run how_;
  agenda agenda_;
  std::vector<thread> threads_;
  std::deque<loop_stack> stacks_;
  std::vector<std::uint32_t> free_stacks_;
  cleave::net::random_numbers random_;
  const std::uint32_t size_;
  nanoseconds end_ = never;
  times spent_;
  workers_result result_;
};

}  // namespace sim
