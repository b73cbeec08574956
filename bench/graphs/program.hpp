// The program of one system: how long a subtask must be for the system to keep its workers busy.
#pragma once

#include <concepts>
#include <functional>
#include <string>

#include "grid.hpp"

namespace bench {

// S(P) starts P workers, or finds them running, and workers() tells how many there are. run(grid)
// makes and runs all subtasks once and returns the seconds that took. Where several processes run
// the program, run() returns the same in all, leads() is true in one of them, and from_leader(x)
// returns the leader's x in all.
template <class S>
concept graph_system = requires(S s, const grid& g) {
  S(1);
  { s.workers() } -> std::convertible_to<int>;
  { s.run(g) } -> std::convertible_to<double>;
  { S::name } -> std::convertible_to<const char*>;
};

struct graph_program {
  const char* name;
  std::function<void(int workers)> start;
  std::function<int()> workers;
  std::function<double(const grid&)> run;
  std::function<bool()> leads;
  std::function<double(double)> from_leader;
};

// Prints one JSON object. Returns the exit status.
int measure_granularity(const graph_program& of, int argc, char** argv);

template <graph_system S>
int measure_granularity(int argc, char** argv) {
  std::unique_ptr<S> system;
  return measure_granularity(
      {S::name, [&](int workers) { system = std::make_unique<S>(workers); },
       [&] { return system->workers(); }, [&](const grid& g) { return system->run(g); },
       [&] {
         if constexpr (requires { system->leads(); }) return system == nullptr || system->leads();
         else return true;
       },
       [&](double x) {
         if constexpr (requires { system->from_leader(x); }) return system->from_leader(x);
         else return x;
       }},
      argc, argv);
}

}  // namespace bench

#define CLEAVE_GRAPH_PROGRAM(system) \
  int main(int argc, char** argv) { return bench::measure_granularity<system>(argc, argv); }
