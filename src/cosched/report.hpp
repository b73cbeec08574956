#pragma once

#include "cosched/spin_time.hpp"

#include <cstdint>
#include <string>

namespace cleave::cosched {

struct counted_waits {
  std::int64_t calls = 0;  // calls into MPI that may block
  std::int64_t waits = 0;  // waits in these calls that did not end at once
  std::int64_t spun = 0;   // waits that ended without a sleep
  std::int64_t slept = 0;  // waits that ended after a sleep
  std::int64_t late = 0;   // waits that ended late, after the longest sleep: nobody had rung
};
struct counted_sleeps {
  std::int64_t sleeps = 0;       // sleeps, of which a wait can have several
  std::int64_t for_nothing = 0;  // sleeps that ended by a ring, after which nothing was found
  std::int64_t timeouts = 0;     // sleeps that ended late, when there was nothing to find
  std::int64_t events = 0;       // sleeps that ended because another node sent something
};
struct counted_times {
  std::int64_t rings = 0;   // how often other ranks were rung
  std::int64_t longer = 0;  // waits that spun longer because nobody else wanted the CPU
  std::int64_t spin_time = 0, sleep_time = 0;
  std::int64_t yields = 0, yield_time = 0;  // times that the CPU was left to the job's other ranks
  std::int64_t stops = 0, stop_time = 0;    // stops while it was another job's turn
};
/// What one rank has done, or all of them. Times in nanoseconds.
struct counts : counted_waits, counted_sleeps, counted_times {
  static constexpr int fields = 17;
};
static_assert(sizeof(counts) == counts::fields * sizeof(std::int64_t));

struct report {
  policy by;
  nanoseconds spin, context_switch, wake;
  int ranks;
  counts total;
};

std::string as_text(const report& r);
/// The report as one JSON object.
std::string as_json(const report& r);

}  // namespace cleave::cosched
