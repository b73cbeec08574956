#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

/// What workers did, and when. Off unless somebody asks for it: then a recorder is a null pointer.
namespace cleave::trace {

enum class activity : std::uint8_t {
  task,    // running the program
  divide,  // serving a request: going back, making a task, going on
  wait,    // with nothing to do
  join     // for a part given away, or for a group
};

struct span {
  std::uint64_t begin, end;  // ticks
  std::uint64_t made;        // when a task was divided from another or spawned; 0: neither
  std::uint32_t maker;       // the worker that made the task
  std::uint32_t node;        // the maker's node plus one, whose ticks `made` has; 0: this one
  activity what;
  bool found;                  // after a wait or a join: whether it has found a task
  const char* name = nullptr;  // the name of a task that has one
};

/// What one worker did. Spans nest; the worker alone begins and ends them, anybody may read. Memory
/// is bounded: when there is no room left the shorter half of the spans is dropped, and from then
/// on all that are as short, so that those that remain cover the whole run. What the time was spent
/// on is added up exactly.
class recorder {
public:
  struct totals {  // ticks
    std::uint64_t work = 0;
    std::uint64_t dividing = 0;
    std::uint64_t stealing = 0;  // waits that ended with a task
  };
  struct snapshot {
    std::vector<span> spans;  // spans under way end at this moment
    std::uint64_t left_out;   // how many were dropped
    std::uint64_t shortest;   // ticks; all that took longer are there
  };

  /// Waits count from `run_began` on, which is when the run under way began.
  recorder(std::size_t most, const std::atomic<std::uint64_t>& run_began);

  void begin(activity what, std::uint64_t made = 0, std::uint32_t maker = 0, std::uint32_t node = 0,
             const char* name = nullptr);
  /// Ends what was begun last.
  void end(bool found = false);

  totals spent() const;
  snapshot spans() const;

private:
  struct open_span {
    span of;
    std::uint64_t inside = 0;  // ticks in it, without those in spans inside
  };
  void keep(const span& s);
  void make_room();

  mutable std::mutex mutex_;
  const std::size_t most_;
  const std::atomic<std::uint64_t>& run_began_;
  std::vector<open_span> open_;
  std::uint64_t since_ = 0;  // when the last span began or ended
  std::vector<span> kept_;
  std::uint64_t shortest_ = 0;
  std::uint64_t left_out_ = 0;
  totals spent_;
};

/// Records an activity of a worker while this object lives.
class recorded {
public:
  recorded(recorder* to, activity what, std::uint64_t made = 0, std::uint32_t maker = 0,
           std::uint32_t node = 0, const char* name = nullptr)
      : to_(to) {
    if (to_ != nullptr) to_->begin(what, made, maker, node, name);
  }
  ~recorded() {
    if (to_ != nullptr) to_->end(found);
  }
  recorded(const recorded&) = delete;
  recorded& operator=(const recorded&) = delete;
  bool found = false;

private:
  recorder* to_;
};

}  // namespace cleave::trace
