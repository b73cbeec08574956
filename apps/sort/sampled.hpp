// Numbers that stay where they are: each node has a part of them, and afterwards the numbers of one
// range, in order. Source: W. D. Frazer and A. C. McKellar, Samplesort: A Sampling Approach to
// Minimal Storage Tree Sorting (1970).
#pragma once

#include <cleave/cleave.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "../common/measure.hpp"
#include "../common/random.hpp"
#include "problem.hpp"
#include "sequential.hpp"

namespace apps::sort::sampled {

using numbers = std::vector<std::uint32_t>;

// A part of the numbers, and the seconds that its node has computed for it.
struct part {
  numbers values;
  double sampling = 0, sorting = 0;
  auto fields() { return std::tie(values, sampling, sorting); }
};

// What is to be known of a part.
struct summary {
  std::uint64_t count = 0, checksum = 0;
  std::uint32_t first = 0, last = 0;
  bool is_sorted = true;
  double sampling = 0, sorting = 0;
  auto fields() { return std::tie(count, checksum, first, last, is_sorted, sampling, sorting); }
};

inline summary summary_of(const part& p) {
  const auto& v = p.values;
  summary s{v.size(), checksum(v), 0, 0, std::is_sorted(v.begin(), v.end()), p.sampling, p.sorting};
  if (!v.empty()) s.first = v.front(), s.last = v.back();
  return s;
}

// The share of node k of so many, of n numbers that are the same in every run.
inline numbers own_share(std::size_t n, int k, int nodes) {
  const auto begin = [&](int node) {
    return n * static_cast<std::size_t>(node) / static_cast<std::size_t>(nodes);
  };
  return random_values(n, begin(k), begin(k + 1));
}

// Some of the numbers, drawn at random.
inline numbers sample_of(const numbers& values, std::uint64_t seed) {
  constexpr std::size_t size = 1024;
  numbers some;
  random_numbers next(seed);
  for (std::size_t i = 0; i < size && !values.empty(); i++)
    some.push_back(values[static_cast<std::size_t>(next() % values.size())]);
  return some;
}

// The least number of each range but the first, so that each has as many of the sample.
inline numbers splitters_of(numbers sample, int ranges) {
  std::sort(sample.begin(), sample.end());
  numbers least;
  for (int r = 1; r < ranges && !sample.empty(); r++)
    least.push_back(
        sample[sample.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranges)]);
  return least;
}

// Which range a number belongs to.
inline std::size_t range_of(std::uint32_t value, const numbers& splitters) {
  constexpr std::size_t few = 16;
  if (splitters.size() > few)
    return static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), value) -
                                    splitters.begin());
  std::size_t range = 0;  // without branches, as those are mispredicted
  for (const std::uint32_t s : splitters) range += s <= value;
  return range;
}

// Puts each of the numbers to its range.
template <class Ranges>
void deal(const numbers& values, const numbers& splitters, Ranges&& to) {
  std::vector<std::size_t> size(to.size());
  for (const std::uint32_t v : values) size[range_of(v, splitters)]++;
  std::vector<std::uint32_t*> next;
  for (std::size_t r = 0; r < to.size(); r++) {
    to[r].resize(size[r]);
    next.push_back(to[r].data());
  }
  for (const std::uint32_t v : values) *next[range_of(v, splitters)]++ = v;
}

inline void sort(numbers& values) {
  numbers other(values.size());
  sequential::sort(values, other);
}

template <class Pieces>
void join_and_sort(const Pieces& from, numbers& to) {
  std::size_t size = 0;
  for (const numbers& piece : from) size += piece.size();
  to.clear();
  to.reserve(size);
  for (const numbers& piece : from) to.insert(to.end(), piece.begin(), piece.end());
  sort(to);
}

// What rank 0 knows at the end: the parts before and after, and the middle number.
struct findings {
  std::vector<summary> before, after;
  std::uint32_t middle = 0;
  double seconds = 0;
  // Times differ from run to run.
  friend bool operator==(const findings& a, const findings& b) { return a.middle == b.middle; }
};

// The part that has the number at a place in the order of all, and its place there.
inline std::pair<std::size_t, std::size_t> place_of(std::size_t place,
                                                    const std::vector<summary>& parts) {
  std::size_t part = 0;
  while (part + 1 < parts.size() && place >= parts[part].count) place -= parts[part++].count;
  return {part, place};
}

// One member of the team. Node k is rank k % ranks.
class sorter {
public:
  sorter(std::size_t n, int nodes, cleave::team& all) : n_(n), nodes_(nodes), all_(all), g_(all) {
    for (int k = 0; k < nodes; k++) {
      parts_.push_back(g_.make<part>());
      before_.push_back(g_.make<summary>());
      after_.push_back(g_.make<summary>());
      g_.run(
          "make",
          [n, k, nodes](part& p, summary& s) {
            p.values = own_share(n, k, nodes);
            s = summary_of(p);
          },
          cleave::out(parts_.back()), cleave::out(before_.back()), cleave::on(rank(k)));
      g_.bring(before_.back(), 0);
    }
    g_.wait();
  }

  // Blocks until all parts are sorted.
  void sort() {
    using cleave::in, cleave::inout, cleave::out, cleave::on;
    std::vector<cleave::datum<numbers>> samples;
    for (int k = 0; k < nodes_; k++) {
      samples.push_back(g_.make<numbers>());
      g_.run(
          "sample",
          [k](const part& p, numbers& s) {
            s = sample_of(p.values, static_cast<std::uint64_t>(k));
          },
          in(parts_[std::size_t(k)]), out(samples.back()), on(rank(k)));
    }
    const auto splitters = g_.make<numbers>();
    g_.run(
        "split",
        [nodes = nodes_](const cleave::values<const numbers>& from, numbers& s) {
          numbers all;
          for (const numbers& one : from) all.insert(all.end(), one.begin(), one.end());
          s = splitters_of(std::move(all), nodes);
        },
        in(samples), out(splitters), on(0));
    exchange(splitters);
    g_.wait();
  }

  // Looks at all parts, where they are. Rank 0 has what was found.
  findings look() {
    for (int k = 0; k < nodes_; k++) {
      g_.run(
          "look", [](const part& p, summary& s) { s = summary_of(p); },
          cleave::in(parts_[std::size_t(k)]), cleave::out(after_[std::size_t(k)]),
          cleave::on(rank(k)));
      g_.bring(after_[std::size_t(k)]);
    }
    g_.wait();
    findings f;
    for (const auto& s : after_) f.after.push_back(*s);
    const auto [part_of_it, place] = place_of(n_ / 2, f.after);
    auto middle = g_.make<std::uint32_t>(0U);
    g_.run(
        "middle", [at = place](const part& p, std::uint32_t& m) { m = p.values.at(at); },
        cleave::in(parts_[part_of_it]), cleave::out(middle),
        cleave::on(rank(static_cast<int>(part_of_it))));
    g_.bring(middle, 0);
    g_.wait();
    if (all_.rank() != 0) return f;
    f.middle = *middle;
    for (const auto& s : before_) f.before.push_back(*s);
    return f;
  }

private:
  unsigned rank(int k) const { return static_cast<unsigned>(k) % all_.size(); }

  // Each node sends each other one the numbers of its range, and sorts those that it gets.
  void exchange(cleave::datum<numbers> splitters) {
    using cleave::in, cleave::inout, cleave::out, cleave::on;
    std::vector<std::vector<cleave::datum<numbers>>> pieces(static_cast<std::size_t>(nodes_));
    for (int from = 0; from < nodes_; from++) {
      std::vector<cleave::datum<numbers>> own;
      for (auto& to : pieces) to.push_back(g_.make<numbers>()), own.push_back(to.back());
      g_.run(
          "deal",
          [](part& p, const numbers& s, const cleave::values<numbers>& to) {
            p.sampling = timed([&] { return deal(p.values, s, to), 0; }).first.seconds;
            p.values = {};
          },
          inout(parts_[std::size_t(from)]), in(splitters), out(own), on(rank(from)));
    }
    for (int to = 0; to < nodes_; to++)
      g_.run(
          "sort",
          [](const cleave::values<const numbers>& from, part& p) {
            p.sorting = timed([&] { return join_and_sort(from, p.values), 0; }).first.seconds;
          },
          in(pieces[std::size_t(to)]), inout(parts_[std::size_t(to)]), on(rank(to)));
  }

  std::size_t n_;
  int nodes_;
  const cleave::team& all_;
  cleave::team_graph g_;
  std::vector<cleave::datum<part>> parts_;
  std::vector<cleave::datum<summary>> before_, after_;
};

// What is wrong with what was found; empty if nothing is.
inline std::string wrong_with(const findings& f) {
  std::uint64_t given = 0, has = 0, sum_given = 0, sum = 0;
  for (const summary& s : f.before) given += s.count, sum_given += s.checksum;
  const summary* last = nullptr;
  for (const summary& s : f.after) {
    has += s.count, sum += s.checksum;
    if (!s.is_sorted) return "an ascending order in each part";
    if (s.count == 0) continue;
    if (last != nullptr && last->last > s.first) return "no part that begins before one has ended";
    last = &s;
  }
  return given == has && sum_given == sum ? "" : "the numbers that were given";
}

}  // namespace apps::sort::sampled
