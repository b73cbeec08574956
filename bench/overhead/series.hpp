// What was measured of one program, and the figures that are made of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
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
  std::vector<std::uint64_t> splits;  // of each run with all workers
  std::vector<std::int64_t> nodes;    // where they differ: sequential, one, all, and so on

  void add(const series& more);
};

// Runs the kernel's forms once each, in an order that depends on the round. Throws std::runtime_error if
// an answer is wrong. A kernel with a baseline has no sequential program of its own.
series one_round(const kernel& k, int workers, int round, const std::string& flags);

nlohmann::ordered_json to_json(const series& s);
series series_from(const nlohmann::json& object);

// For each program, whichever of two builds has the faster sequential program.
std::vector<series> faster_of(const std::vector<series>& a, const std::vector<series>& b);

void print_table(const std::vector<series>& all, int workers);

}  // namespace overhead
