// The answer in words, and its check.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../common/answer.hpp"
#include "collection.hpp"
#include "root.hpp"

namespace apps::tsp {

// The cities of a tour as they are numbered in a file.
inline std::vector<int> numbers_of(const tour& t) {
  std::vector<int> numbers;
  for (const int city : t.empty() ? t : normalized(t)) numbers.push_back(city + 1);
  return numbers;
}

inline answer report(const instance& cities, bool print_tour, const result& found) {
  const bool is_known = !found.shortest.empty();
  const double gap = 100.0 * static_cast<double>(found.length - found.root_bound) /
                     static_cast<double>(found.length);
  answer a{found.length, ""};
  a.text = is_known ? fmt::format("length {}", found.length)
                    : fmt::format("no tour is shorter than {}", found.length);
  a.text += fmt::format("; bound of the root {}, gap {:.2f} %; {} nodes", found.root_bound, gap,
                        found.nodes);
  if (print_tour && is_known) {
    a.text += "\ntour        ";
    for (const int city : numbers_of(found.shortest)) a.text += fmt::format(" {}", city);
  }
  a.more = {{"visited", static_cast<std::int64_t>(found.nodes)},
            {"root_bound", found.root_bound},
            {"gap_percent", gap},
            {"first_length", found.first},
            {"tour", numbers_of(found.shortest)}};
  if (is_known &&
      (!is_tour(cities, found.shortest) || length_of(cities, found.shortest) != found.length))
    a.wrong = "a tour of all cities that has this length";
  else if (found.root_bound > found.length) a.wrong = "at least the bound of the root";
  return a;
}

inline answer report(const instance& cities, const wanted_tours& wanted, const collected& found) {
  const auto count = static_cast<std::int64_t>(found.tours.size());
  answer a{count, ""};
  a.text = fmt::format("{} different tours of length at most {}", count, wanted.length);
  if (count < wanted.count) a.text += fmt::format(", of {}", wanted.count);
  if (found.searchers > 1) a.text += fmt::format("; {} searchers", found.searchers);
  if (found.told.sent > 0) a.text += fmt::format("; told others {} times", found.told.sent);
  a.text += fmt::format("; {} runs: {} new, {} same, {} failed", found.runs.runs(),
                        found.runs.found, found.runs.same, found.runs.failed);
  a.more = {{"searchers", std::int64_t{found.searchers}},
            {"runs", found.runs.runs()},
            {"new", found.runs.found},
            {"same", found.runs.same},
            {"failed", found.runs.failed},
            {"run_seconds", found.runs.seconds},
            {"sent", found.told.sent},
            {"told_messages", found.told.messages},
            {"told_bytes", found.told.bytes}};
  for (const tour& t : found.tours)
    if (!is_tour(cities, t) || t != normalized(t) || length_of(cities, t) > wanted.length)
      a.wrong = "tours of all cities that are no longer";
  if (count > wanted.count || found.runs.found < count) a.wrong = "as many tours as are wanted";
  return a;
}

}  // namespace apps::tsp
