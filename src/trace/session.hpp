#pragma once

#include "trace/node_trace.hpp"
#include "trace/recorder.hpp"
#include "trace/strand_clock.hpp"

#include <cleave/statistics.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cleave::trace {

/// What is recorded of a runtime: what its workers do, or the strands of its only one.
class session {
public:
  struct settings {
    std::string file;       // empty: none is written
    bool spans = false;     // kept for another node, which writes the file
    std::size_t bytes = 0;  // the length of the file, or of this node's part of it, at most
    bool strands = false;   // work and span
  };
  /// Throws std::invalid_argument if the file cannot be written, or so few bytes hold next to
  /// nothing.
  session(settings s, unsigned workers);

  recorder* of(unsigned worker) noexcept { return recorders_[worker].get(); }
  /// Null unless this is a profile.
  strand_clock* strands() noexcept { return strands_.get(); }

  // Any thread may call these.
  void begin_run();
  void end_run();
  time_spent spent() const;
  work_span profile() const;

  /// Whether a file is to be written.
  bool has_file() const noexcept { return !settings_.file.empty(); }
  /// Whether nobody has tried to write the file.
  bool unwritten() const noexcept { return has_file() && !tried_; }
  /// What was recorded here.
  node_trace recorded() const;
  /// Writes all of the trace, with what other nodes recorded, or, if that fails, nothing. Throws
  /// std::runtime_error.
  void write(std::vector<node_trace> others = {});

private:
  using clock = std::chrono::steady_clock;
  double seconds_per_tick() const;

  const settings settings_;
  const std::uint64_t first_tick_;
  const clock::time_point first_time_;
  std::atomic<std::uint64_t> run_began_;
  std::vector<std::unique_ptr<recorder>> recorders_;
  const std::unique_ptr<strand_clock> strands_;
  bool tried_ = false;  // somebody has tried to write the file

  mutable std::mutex mutex_;
  unsigned runs_ = 0;  // runs under way
  clock::time_point began_;
  clock::duration elapsed_{};
};

}  // namespace cleave::trace
