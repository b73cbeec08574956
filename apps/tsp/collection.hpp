// Different short tours, and how many runs of the random descent they have cost.
#pragma once

#include <cstddef>
#include <cstdint>
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
  one,      // each tour at once
  part,     // its part of the tours together: their number divided by the searchers
  halving,  // that at first, and half as many each time
  doubling  // one at first, and twice as many each time
};
struct sharing {
  sending when = sending::one;
  int searchers = 1;
  auto fields() { return std::tie(when, searchers); }
};

// Runs by what they have found: a tour that is short enough and new, one that is known, or none.
struct tally {
  std::int64_t found = 0, same = 0, failed = 0;
  auto fields() { return std::tie(found, same, failed); }
  std::int64_t runs() const { return found + same + failed; }
  tally& operator+=(const tally& b) {
    found += b.found;
    same += b.same;
    failed += b.failed;
    return *this;
  }
};

// What a run finds. Each number stands for a run of its own, with the same result whenever and
// wherever it is made.
inline tour run_descent(const instance& cities, const wanted_tours& wanted, int number) {
  descent d(cities, std::uint64_t{wanted.seed} << 32 | static_cast<std::uint32_t>(number),
            wanted.only_shorter ? -1 : 0);
  for (int in_vain = 0; in_vain < wanted.failures;) in_vain = d.change() ? 0 : in_vain + 1;
  return normalized(d.now());
}

class collection {
public:
  // Takes what a run has found, if any is missing. Returns whether all are there that are wanted.
  bool add(const instance& cities, const wanted_tours& wanted, tour t) {
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

struct collected {
  std::set<tour> tours;
  tally runs;             // of all searchers
  int searchers = 1;      // each with a collection of its own
  std::int64_t sent = 0;  // times that one of them has told others
  // Which tours are found, and by how many runs, depends on the division.
  friend bool operator==(const collected& a, const collected& b) {
    return a.tours.size() == b.tours.size();
  }
};

}  // namespace apps::tsp
