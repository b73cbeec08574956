#pragma once

#include <cleave/detail/graph/graph.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleave::detail {

/// What it costs that a value goes from one node to another: a worker there puts it into a message,
/// which is on its way, and then a worker here takes it out. In microseconds.
struct message_costs {
  struct cost {
    double fixed = 0, per_byte = 0;
    double of(double bytes) const noexcept { return fixed + bytes * per_byte; }
  };
  cost sending, transit, receiving;
  double whole(double bytes) const noexcept {
    return sending.of(bytes) + transit.of(bytes) + receiving.of(bytes);
  }
};

/// A graph of a team as a run has seen it: what each subtask used, and how long it took. Subtasks
/// and data are numbered from 0 in program order. Times are in microseconds.
struct recorded_graph {
  static constexpr std::uint32_t any_rank = ~std::uint32_t{0};
  struct use {
    std::uint32_t datum = 0;
    access_mode mode{};
  };
  struct subtask {
    std::uint32_t name = 0;          // an index into names
    std::uint32_t asked = any_rank;  // the rank that on() told
    std::uint32_t ran_on = 0;        // a rank
    std::uint32_t uses_end = 0;      // where its uses end; they begin where the last one's end
    std::uint32_t after_end = 0;
    double duration = 0;
  };

  unsigned nodes = 1, workers = 1;  // the nodes that ran it, and the workers on each
  bool of_ranks = false;  // an MPI program: a node is a rank, and each subtask stays on its own
  message_costs messages;
  std::vector<std::string> names;
  std::vector<subtask> subtasks;
  std::vector<use> uses;
  std::vector<std::uint32_t> after;  // subtasks
  std::vector<double> bytes;         // of each datum's value, serialized; 0 if that is not known

  std::span<const use> uses_of(std::size_t i) const noexcept {
    const std::size_t first = i == 0 ? 0 : subtasks[i - 1].uses_end;
    return std::span(uses).subspan(first, subtasks[i].uses_end - first);
  }
  std::span<const std::uint32_t> after_of(std::size_t i) const noexcept {
    const std::size_t first = i == 0 ? 0 : subtasks[i - 1].after_end;
    return std::span(after).subspan(first, subtasks[i].after_end - first);
  }
  void put(byte_writer& to) const;
  /// Throws malformed.
  void get(byte_reader& from);
};

/// Reads the graph of a plan's file. Throws std::runtime_error that names the file, if it cannot be
/// read or is none.
recorded_graph read_recorded_graph(const std::string& file);
/// Writes all of the graph or nothing. Throws std::runtime_error.
void write_recorded_graph(const recorded_graph& g, const std::string& file);

}  // namespace cleave::detail
