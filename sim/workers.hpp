#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/tree.hpp"

/// How well the workers of one node share a tree whose nodes take nanoseconds, by what is given,
/// what a waiting worker may run, and whom it asks. Real workers do `rest`, `descendants` and
/// `runner`.
namespace sim {

/// What a worker gives of the loops on its stack.
enum class gift : std::uint8_t {
  half,   ///< of the oldest loop, a half of what remains, or a share for each that asks
  rest,   ///< of the oldest loop all that remains, if `loops_left` have something left further in
  loops,  ///< all that remains of half of the loops, the oldest first, `loops_at_once` at most
};
/// What a worker runs while it waits for a part.
enum class meanwhile : std::uint8_t {
  descendants,  ///< parts of what it waits for
  deeper,       ///< any part that is at least as deep in the tree: the bound on stacks holds
  leave  ///< anything, on another stack: who finishes what is awaited goes on with the old one
};
/// Whom a worker asks first; then all.
enum class victim : std::uint8_t {
  runner,  ///< who runs what it waits for; else a random one
  chain,   ///< if that one waits too, the one that it waits for, and so on
  largest  ///< like runner, but the one with the most loops instead of a random one
};
inline constexpr std::string_view gift_names[] = {"half", "rest", "loops"};
inline constexpr std::string_view meanwhile_names[] = {"descendants", "deeper", "leave"};
inline constexpr std::string_view victim_names[] = {"runner", "chain", "largest"};

/// Nanoseconds.
struct worker_costs {
  std::int64_t node = 60;         ///< visiting a node of the tree
  std::int64_t line = 100;        ///< until another worker sees what one has written
  std::int64_t answer = 200;      ///< making a part; each further one of a gift takes half of it
  std::int64_t look = 40;         ///< looking who asks
  std::int64_t search = 5;        ///< looking at one loop
  std::int64_t linger = 200;      ///< how long a join waits before it asks
  std::int64_t all_after = 1000;  ///< how long a request waits before it asks all
  std::int64_t press = 20'000;    ///< how long it waits before it asks all again
};

struct workers_run {
  unsigned workers = 2;
  gift gives = gift::rest;
  unsigned loops_at_once = 8, loops_left = 8;
  meanwhile waits = meanwhile::descendants;
  victim asks = victim::runner;
  /// How many loops must be further in than the one that is given, for whoever waits for what runs
  /// there, and for others.
  unsigned further_in_for_waiting = 5, further_in = 1;
  worker_costs costs = {};
  std::uint64_t seed = 1;
};

struct workers_result {
  workers_run run;
  double seconds = 0;
  double speedup = 0;  ///< over visiting all nodes one after the other
  double computing = 0, answering = 0, waiting = 0, idle = 0;  ///< parts of all workers' time
  std::uint64_t visited = 0;
  std::uint64_t parts = 0, taken_back = 0;
  std::uint64_t deepest = 0;  ///< loops on one stack
  std::uint64_t stacks = 0;
};

workers_result run_workers(const tree& work, const workers_run& run);

}  // namespace sim
