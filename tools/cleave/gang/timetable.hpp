// What was announced: from which moment on which jobs run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "gang/clock_offset.hpp"
#include "gang/round_robin.hpp"

namespace gang {

// How far ahead a turn is announced: the longest way to another daemon and back, which is taken for
// `unknown_trip` where it has not been measured, and `least_ahead` more; at most `most_ahead`.
inline constexpr moment least_ahead = std::chrono::milliseconds(8);
inline constexpr moment most_ahead = std::chrono::milliseconds(400);
inline constexpr moment unknown_trip = std::chrono::milliseconds(20);

struct turn {
  std::uint64_t number = 0;
  moment at{};  // when it begins
  std::vector<job_id> jobs{};

  bool has(const job_id& job) const {
    return std::find(jobs.begin(), jobs.end(), job) != jobs.end();
  }
};

// Invariant: sorted by their beginnings; whose turn it is at a moment is said by the last one that
// has begun then, so it does not matter when somebody looks.
class timetable {
public:
  // Adds a turn, which replaces what was to begin then or later.
  void add(turn next) {
    std::erase_if(turns_, [&](const turn& t) { return t.at >= next.at; });
    turns_.push_back(std::move(next));
  }
  // Forgets turns that were over by then.
  void prune(moment now) {
    while (turns_.size() > 1 && turns_[1].at <= now) turns_.erase(turns_.begin());
  }
  const std::vector<turn>& turns() const { return turns_; }
  // The turn at that moment; null before the first.
  const turn* at(moment now) const {
    const turn* found = nullptr;
    for (const turn& t : turns_)
      if (t.at <= now) found = &t;
    return found;
  }

private:
  std::vector<turn> turns_;
};

// What one keeper knows of the timetable.
struct change {
  moment at{};
  bool run = false;
  std::uint64_t number = 0;  // the number of the turn
  bool operator==(const change&) const = default;
};

// The first state and then changes only; `paused`: the job never runs.
inline std::vector<change> changes_for(const timetable& p, const job_id& job, bool paused) {
  if (paused) return {{moment(0), false, 0}};
  std::vector<change> all;
  for (const turn& t : p.turns())
    if (all.empty() || all.back().run != t.has(job)) all.push_back({t.at, t.has(job), t.number});
  return all;
}

}  // namespace gang
