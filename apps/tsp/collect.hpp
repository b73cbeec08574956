// Collects different short tours, divided among the workers of this machine, which have one
// collection. Source: the paper that descent.hpp names, section 4.4.5.
#pragma once

#include <cleave/cleave.hpp>
#include <cleave/find.hpp>

#include <mutex>
#include <utility>

#include "collection.hpp"

namespace apps::tsp {

namespace sequential {

inline collected collect(const instance& cities, const wanted_tours& wanted) {
  collection c;
  for (int i = 0; i < wanted.most_runs; i++) {
    double seconds = 0;
    tour t = *run_descent(cities, wanted, i, seconds, [] { return false; });
    if (c.add(cities, wanted, std::move(t), seconds)) break;
  }
  return {c.tours(), c.runs(), 1, {}};
}

}  // namespace sequential

namespace parallel {

// All know what one has found: there is one collection.
inline collected collect_together(const instance& cities, const wanted_tours& wanted) {
  collection all;
  std::mutex mutex;  // held while `all` changes
  cleave::any_of(0, wanted.most_runs, [&cities, &wanted, &all, &mutex](int i) {
    double seconds = 0;
    tour t = *run_descent(cities, wanted, i, seconds, [] {
      cleave::poll();
      return false;
    });
    const std::lock_guard lock(mutex);
    return all.add(cities, wanted, std::move(t), seconds);
  });
  return {all.tours(), all.runs(), 1, {}};
}

}  // namespace parallel

}  // namespace apps::tsp
