// Different short tours, and how many runs of the random descent they have cost.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "descent.hpp"
#include "instance.hpp"

namespace apps::tsp {

struct wanted_tours {
  int count = 0;              // of them, all different
  length_t length = 0;        // of each at most
  int failures = 0;           // so many changes in a row that do not help end a run
  bool only_shorter = false;  // a change that leaves the length as it is does not stay
  std::uint32_t seed = 0;
  int most_runs = 0;
  auto fields() { return std::tie(count, length, failures, only_shorter, seed, most_runs); }
};

// When a searcher tells others what it has found.
enum class sending : std::uint8_t {
  one,        // each tour at once
  part,       // its part of the tours together: their number divided by the searchers
  halving,    // that at first, and half as many each time
  doubling,   // one at first, and twice as many each time
  remaining,  // its part of those that are missing, as a master says
  never       // it tells that it has all tours, and nothing else
};
struct sharing {
  sending when = sending::one;
  int searchers = 1;
  auto fields() { return std::tie(when, searchers); }
};

// How many new tours a searcher tells others of together.
class telling {
public:
  telling(const wanted_tours& wanted, const sharing& how) : how_(how), at_once_(wanted.count) {
    if (how.when == sending::one || how.when == sending::doubling) at_once_ = 1;
    else if (how.when != sending::never) at_once_ = part_of(wanted.count);
  }

  // Whether so many are told, where so many tours are missing.
  bool is_enough(int untold, int missing) const {
    return untold >= (how_.when == sending::remaining ? part_of(missing) : at_once_);
  }
  void told() {
    if (how_.when == sending::halving) at_once_ = std::max(1, at_once_ / 2);
    if (how_.when == sending::doubling) at_once_ *= 2;
  }
  int part_of(int tours) const { return std::max(1, tours / how_.searchers); }

private:
  sharing how_;
  int at_once_;
};

// Runs by what they have found: a tour that is short enough and new, one that is known, or none.
struct tally {
  std::int64_t found = 0, same = 0, failed = 0;
  double seconds = 0;  // of a CPU, with runs that were ended early, which count nowhere else
  auto fields() { return std::tie(found, same, failed, seconds); }
  std::int64_t runs() const { return found + same + failed; }
  tally& operator+=(const tally& b) {
    found += b.found;
    same += b.same;
    failed += b.failed;
    seconds += b.seconds;
    return *this;
  }
};

// The CPU time of this thread.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// What a run finds; nothing if `ends()`, which is asked now and then, has been true. Each number
// stands for a run of its own, with the same result whenever and wherever it is made. Adds its time
// to `seconds`.
template <class Ends>
std::optional<tour> run_descent(const instance& cities, const wanted_tours& wanted, int number,
                                double& seconds, const Ends& ends) {
  constexpr int between = 4096;  // changes: some 50 microseconds
  const double began = thread_seconds();
  descent d(cities, std::uint64_t{wanted.seed} << 32 | static_cast<std::uint32_t>(number),
            wanted.only_shorter ? -1 : 0);
  bool ended = false;
  for (int in_vain = 0, left = between; in_vain < wanted.failures && !ended;) {
    in_vain = d.change() ? 0 : in_vain + 1;
    if (--left == 0) left = between, ended = ends();
  }
  seconds += thread_seconds() - began;
  if (ended) return {};
  return normalized(d.now());
}

class collection {
public:
  // Takes what a run has found, if any is missing. Returns whether all are there that are wanted.
  bool add(const instance& cities, const wanted_tours& wanted, tour t, double seconds) {
    runs_.seconds += seconds;
    const auto all = static_cast<std::size_t>(wanted.count);
    if (tours_.size() >= all) return true;
    if (length_of(cities, t) > wanted.length) runs_.failed++;
    else if (tours_.insert(std::move(t)).second) runs_.found++;
    else runs_.same++;
    return tours_.size() >= all;
  }

  const std::set<tour>& tours() const { return tours_; }
  const tally& runs() const { return runs_; }

private:
  std::set<tour> tours_;  // normalized
  tally runs_;
};

// What searchers have told each other, as if each were a process of its own.
struct letters {
  std::int64_t sent = 0;  // times that one of them has told others
  std::int64_t messages = 0, bytes = 0;
  auto fields() { return std::tie(sent, messages, bytes); }
  letters& operator+=(const letters& b) {
    sent += b.sent;
    messages += b.messages;
    bytes += b.bytes;
    return *this;
  }
  // So many tours of so many cities go to so many others.
  void tell(std::size_t tours, int cities, int others) {
    sent++;
    messages += others;
    bytes +=
        std::int64_t{others} * cities * static_cast<std::int64_t>(tours * sizeof(tour::value_type));
  }
};

struct collected {
  std::set<tour> tours;
  tally runs;         // of all searchers
  int searchers = 1;  // each with a collection of its own
  letters told;
  // Which tours are found, and by how many runs, depends on the division.
  friend bool operator==(const collected& a, const collected& b) {
    return a.tours.size() == b.tours.size();
  }
};

}  // namespace apps::tsp
