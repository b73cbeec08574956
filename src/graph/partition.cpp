#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/by_home.hpp"
#include "graph/schedule.hpp"

namespace cleave::detail {
namespace {

/// Homes and how much they have to do with each other.
class affinities {
public:
  struct link {
    std::uint32_t to;
    double cost;  // microseconds of messages, if they are on two nodes
  };

  affinities(const recorded_graph& g, const machine_model& on)
      : work(work_of_homes(g)), links_(g.bytes.size()) {
    std::vector<std::uint32_t> writer(g.bytes.size(), none);  // the home of the newest value
    std::vector<std::uint64_t> version(g.bytes.size());
    std::unordered_map<std::uint64_t, double> cost;
    std::unordered_map<std::uint64_t, std::uint64_t> sent;  // the version that was sent last
    for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
      const auto* const decides = deciding(g.uses_of(i));
      if (decides == nullptr) continue;
      const std::uint32_t h = decides->datum;
      for (const auto& u : g.uses_of(i)) {
        if (u.mode == access_mode::out || writer[u.datum] == none || writer[u.datum] == h) continue;
        // A value goes to each home once.
        std::uint64_t& last = sent[std::uint64_t{u.datum} << 32 | h];
        if (last == version[u.datum]) continue;
        last = version[u.datum];
        const std::uint32_t w = writer[u.datum];
        cost[std::uint64_t{std::min(w, h)} << 32 | std::max(w, h)] +=
            on.messages.whole(g.bytes[u.datum]);
      }
      for (const auto& u : g.uses_of(i))
        if (u.mode != access_mode::in) writer[u.datum] = h, ++version[u.datum];
    }
    for (const auto& [pair, c] : cost) {
      const auto a = static_cast<std::uint32_t>(pair >> 32), b = static_cast<std::uint32_t>(pair);
      links_[a].push_back({b, c}), links_[b].push_back({a, c});
    }
    // The order of links must not depend on the library.
    for (auto& each : links_) std::ranges::sort(each, {}, &link::to);
  }

  std::span<const link> links(std::uint32_t home) const { return links_[home]; }
  std::vector<double> work;

private:
  std::vector<std::vector<link>> links_;
};

class bisection {
public:
  bisection(const affinities& a, std::vector<std::uint32_t>& ranks) : a_(a), ranks_(ranks) {
    inside_.resize(a.work.size()), gain_.resize(a.work.size()), in_first_.resize(a.work.size());
  }

  /// Gives these homes `count` ranks, from `first` on.
  void part(const std::vector<std::uint32_t>& homes, std::uint32_t first, std::uint32_t count) {
    if (count == 1 || homes.empty()) {
      for (const std::uint32_t h : homes) ranks_[h] = first;
      return;
    }
    double all = 0;
    for (const std::uint32_t h : homes) all += a_.work[h], inside_[h] = true;
    const std::uint32_t left = count / 2;
    const double wanted = all * left / count;
    std::vector<std::uint32_t> best;
    double least = std::numeric_limits<double>::max();
    for (std::size_t start = 0; start < starts; ++start) {
      grow(homes, homes[start * homes.size() / starts], wanted);
      for (int pass = 0; pass < passes && improve(homes, wanted, all); ++pass) {}
      double cut = 0, has = 0;
      for (const std::uint32_t h : homes) {
        if (!in_first_[h]) continue;
        has += a_.work[h];
        for (const auto& l : a_.links(h)) cut += inside_[l.to] && !in_first_[l.to] ? l.cost : 0;
      }
      // What the slower half has too much counts as well.
      const double uneven = std::abs(has - wanted) / std::min(left, count - left);
      if (cut / count + uneven >= least) continue;
      least = cut / count + uneven;
      best.clear();
      for (const std::uint32_t h : homes)
        if (in_first_[h]) best.push_back(h);
    }
    for (const std::uint32_t h : homes) inside_[h] = in_first_[h] = false;
    for (const std::uint32_t h : best) in_first_[h] = true;
    std::vector<std::uint32_t> others;
    for (const std::uint32_t h : homes)
      if (!in_first_[h]) others.push_back(h);
    for (const std::uint32_t h : best) in_first_[h] = false;
    part(best, first, left);
    part(others, first + left, count - left);
  }

private:
  static constexpr std::size_t starts = 8;
  static constexpr int passes = 8;
  static constexpr std::size_t most_tried = 8;
  static constexpr double tolerance = 0.02;

  struct candidate {
    double gain;
    std::uint32_t home;
    bool operator<(const candidate& b) const {
      return std::tie(gain, b.home) < std::tie(b.gain, home);
    }
  };

  /// What the cut loses if home `h` changes sides.
  double gain_of(std::uint32_t h) const {
    double gain = 0;
    for (const auto& l : a_.links(h))
      if (inside_[l.to]) gain += in_first_[l.to] != in_first_[h] ? l.cost : -l.cost;
    return gain;
  }

  void grow(const std::vector<std::uint32_t>& homes, std::uint32_t seed, double wanted) {
    for (const std::uint32_t h : homes) in_first_[h] = false;
    std::priority_queue<candidate> next;
    std::size_t looked_at = 0;
    double has = 0;
    next.push({0, seed});
    while (has < wanted) {
      std::uint32_t h = none;
      while (!next.empty() && h == none) {
        if (!in_first_[next.top().home] && next.top().gain == gain_[next.top().home])
          h = next.top().home;
        else if (next.top().home == seed && has == 0) h = seed;
        next.pop();
      }
      // Nothing is linked to what the half has: any other home will do.
      while (h == none && looked_at < homes.size())
        if (!in_first_[homes[looked_at++]]) h = homes[looked_at - 1];
      if (h == none) return;
      if (has + a_.work[h] / 2 > wanted && has > 0) return;
      in_first_[h] = true;
      has += a_.work[h];
      for (const auto& l : a_.links(h)) {
        if (!inside_[l.to] || in_first_[l.to]) continue;
        gain_[l.to] = gain_of(l.to);
        next.push({gain_[l.to], l.to});
      }
    }
  }

  /// One pass: each home changes sides once, that with the greatest gain first, as long as the
  /// halves stay even; what was best of all that is kept. Whether it is better than before.
  bool improve(const std::vector<std::uint32_t>& homes, double wanted, double all) {
    double has = 0;
    // The homes on the second side, and those on the first.
    std::array<std::priority_queue<candidate>, 2> sides;
    for (const std::uint32_t h : homes) {
      if (in_first_[h]) has += a_.work[h];
      gain_[h] = gain_of(h);
      sides[in_first_[h]].push({gain_[h], h});
    }
    std::vector<bool> moved(a_.work.size());
    std::vector<std::uint32_t> moves;
    double sum = 0, most = 0;
    std::size_t kept = 0;
    const auto with = [&](std::uint32_t h) { return has + (in_first_[h] ? -1 : 1) * a_.work[h]; };
    const auto keeps_even = [&](std::uint32_t h) {
      return std::abs(with(h) - wanted) <= std::max(tolerance * all, std::abs(has - wanted));
    };
    // Where a half is full, none of a thousand may fit: only the first few are looked at.
    const auto best_of = [&](std::priority_queue<candidate>& side) {
      std::vector<candidate> too_heavy;
      std::optional<candidate> best;
      while (!best && !side.empty() && too_heavy.size() < most_tried) {
        const candidate c = side.top();
        if (moved[c.home] || c.gain != gain_[c.home]) {
          side.pop();
        } else if (keeps_even(c.home)) {
          best = c;
        } else {
          too_heavy.push_back(c);
          side.pop();
        }
      }
      for (const candidate& c : too_heavy) side.push(c);
      return best;
    };
    for (;;) {
      const auto best = std::max(best_of(sides[0]), best_of(sides[1]));  // nothing is less than one
      if (!best) break;
      const std::uint32_t h = best->home;
      moved[h] = true, has = with(h), sum += best->gain;
      in_first_[h] = !in_first_[h];
      moves.push_back(h);
      if (sum > most) most = sum, kept = moves.size();
      for (const auto& l : a_.links(h)) {
        if (!inside_[l.to] || moved[l.to]) continue;
        gain_[l.to] = gain_of(l.to);
        sides[in_first_[l.to]].push({gain_[l.to], l.to});
      }
    }
    while (moves.size() > kept) {
      in_first_[moves.back()] = !in_first_[moves.back()];
      moves.pop_back();
    }
    return kept != 0;
  }

  const affinities& a_;
  std::vector<std::uint32_t>& ranks_;
  std::vector<bool> inside_, in_first_;
  std::vector<double> gain_;
};

}  // namespace

std::vector<std::uint32_t> by_partition(const recorded_graph& g, const machine_model& on) {
  const affinities a(g, on);
  std::vector<std::uint32_t> homes, rank_of(a.work.size());
  for (std::uint32_t h = 0; h < a.work.size(); ++h)
    if (a.work[h] > 0) homes.push_back(h);
  bisection(a, rank_of).part(homes, 0, on.nodes);
  return ranks_by_home(g, on.nodes, rank_of);
}

}  // namespace cleave::detail
