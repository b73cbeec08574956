#pragma once

#include <cleave/detail/graph/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/recorded_graph.hpp"

namespace cleave::detail {

/// What one node of a team knows of a graph while it runs: all of its structure, and what it has
/// measured itself. The first node adds what the others have measured.
class recorder {
public:
  recorder(unsigned rank, unsigned nodes, unsigned workers);
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  // The owner of the graph calls this, on all nodes in the same order.

  /// Notes that the next subtask, of that number, runs on rank `ran_on`.
  void place(std::uint64_t number, const char* name, std::span<const datum_use> uses,
             std::span<const vertex_ref> after, std::optional<unsigned> asked, unsigned ran_on);

  // The owner calls these between wait() and the next subtask.

  /// Appends what was measured since the last call. Throws std::bad_alloc.
  void put_measured(byte_writer& to);
  /// Adds what another node has put. Throws malformed.
  void add(byte_reader& from);
  /// Whether it is known of each subtask how long it took.
  bool is_whole();
  /// The whole graph.
  const recorded_graph& result();

  // Any thread may call these.

  /// Microseconds of this node's clock.
  static double now() noexcept;
  /// A subtask took so long, and nobody else touches what it has written yet.
  void took(std::uint64_t number, double duration) noexcept;
  /// A value was put into a message of so many bytes; received(): taken out of one.
  void sent(std::size_t bytes, double time) noexcept;
  void received(std::size_t bytes, double time) noexcept;
  /// What was sent has been given to the network.
  void flushed(double time) noexcept;
  /// A value has come that was sent at that time by its sender's clock.
  void arrived(unsigned from, std::size_t bytes, double sent_at) noexcept;

private:
  struct duration {
    std::uint32_t subtask;
    double time;
  };
  struct size {
    std::uint32_t datum;
    double bytes;
  };
  struct transfer {
    std::uint32_t from, to;
    double bytes, time;  // with the difference of the two clocks
  };
  struct sample {
    double bytes, time;
  };

  std::optional<std::uint32_t> subtask_of(std::uint64_t number) const noexcept;
  void measure_sizes(std::uint32_t subtask);
  static message_costs::cost fitted(std::vector<sample> of, message_costs::cost otherwise);
  std::vector<sample> in_transit() const;

  const unsigned rank_;
  std::mutex mutex_;
  recorded_graph graph_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::vector<std::uint64_t> numbers_;  // the number of each subtask
  std::vector<any_datum*> data_;
  std::vector<std::uint32_t> writes_;  // how often each datum was written
  std::vector<duration> durations_;
  std::vector<size> sizes_;
  std::vector<transfer> transfers_;
  std::vector<sample> sent_, received_;  // the messages of this node
  double flushing_ = 0;                  // the time of all flushes
};

}  // namespace cleave::detail
