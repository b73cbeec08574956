// What was measured of one program, and the figures that are made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels.hpp"

namespace overhead {

struct times {
  std::vector<double> seconds;
  double median() const;
  double least() const;
  double most() const;
};

struct series {
  std::string name;
  std::string baseline;
  std::string flags;
  times sequential, one, all;         // T_S, T_1, T_P
  std::vector<std::uint64_t> splits;  // the splits of each run with all workers
  std::vector<std::int64_t> nodes;    // where they differ: sequential, one, all, and so on

  void add(const series& more);
};

// Runs the kernel's forms once each, in an order that depends on the round. Throws
// std::runtime_error if an answer is wrong. A kernel with a baseline has no sequential program of
// its own.
series one_round(const kernel& k, int workers, int round, const std::string& flags);

// All that is measured in a run.
struct report {
  std::string machine;
  int workers, rounds;
  std::vector<series> programs;
  std::optional<latency> wake_up;
  double idle = 0;  // CPU seconds per second; with wake_up
  std::vector<call_cost> calls;
  std::vector<short_loop> loops;
};
std::string to_json(const report& r);
// The first program of what to_json() made.
series first_of(const std::string& json);

// The results of each program from that one of two builds whose sequential program is faster.
std::vector<series> faster_of(const std::vector<series>& a, const std::vector<series>& b);

void print_table(const std::vector<series>& all, int workers);
void print_calls(const std::vector<call_cost>& calls, const std::vector<short_loop>& loops);

}  // namespace overhead
