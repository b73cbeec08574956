// Collects different short tours, divided among the workers of this machine in two ways. Source:
// the paper that descent.hpp names, sections 4.4.3 and 4.4.5.
#pragma once

#include <cleave/cleave.hpp>
#include <cleave/find.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "collection.hpp"

namespace apps::tsp {

namespace sequential {

inline collected collect(const instance& cities, const wanted_tours& wanted) {
  collection c;
  for (int i = 0; i < wanted.most_runs; i++)
    if (c.add(cities, wanted, run_descent(cities, wanted, i))) break;
  return {c.tours(), c.runs()};
}

}  // namespace sequential

namespace parallel {

// All know what one has found: there is one collection.
inline collected collect_together(const instance& cities, const wanted_tours& wanted) {
  collection all;
  std::mutex mutex;  // held while `all` changes
  cleave::any_of(0, wanted.most_runs, [&cities, &wanted, &all, &mutex](int i) {
    tour t = run_descent(cities, wanted, i);
    const std::lock_guard lock(mutex);
    return all.add(cities, wanted, std::move(t));
  });
  return {all.tours(), all.runs()};
}

// Nobody knows what others have found: each searcher collects all tours by itself, and the first
// one that has them is the last to be waited for.
inline collected collect_apart(const instance& cities, const wanted_tours& wanted, int searchers) {
  std::vector<collection> each(static_cast<std::size_t>(searchers));
  cleave::any_of(0, searchers, [&cities, &wanted, &each, searchers](int searcher) {
    collection& own = each[std::size_t(searcher)];
    for (int i = searcher; i < wanted.most_runs; i += searchers) {
      cleave::poll();
      if (own.add(cities, wanted, run_descent(cities, wanted, i))) return true;
    }
    return false;
  });
  const auto most = std::max_element(each.begin(), each.end(), [](const auto& a, const auto& b) {
    return a.tours().size() < b.tours().size();
  });
  collected found{most->tours(), {}, searchers};
  for (const collection& c : each) found.runs += c.runs();
  return found;
}

}  // namespace parallel

}  // namespace apps::tsp
