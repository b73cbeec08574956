#include "graph/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cleave::detail {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// What comes before what, as `datum_uses` infers it.
class dependences {
public:
  struct edge {
    std::uint32_t from, to;
    std::uint32_t datum;  // whose value goes along it; none: nothing but that it is done
    bool only_here;       // it matters only if both run on one node, which has one copy
  };

  explicit dependences(const recorded_graph& g) {
    struct state {
      std::vector<std::uint32_t> writers, readers, before;
      bool adding = false;
    };
    std::vector<state> data(g.bytes.size());
    for (std::uint32_t i = 0; i < g.subtasks.size(); ++i) {
      for (const recorded_graph::use& u : g.uses_of(i)) {
        const state& d = data[u.datum];
        const bool goes_on = u.mode == access_mode::add && d.adding && d.readers.empty();
        const bool reads = u.mode != access_mode::out;
        for (const std::uint32_t w : goes_on ? d.before : d.writers)
          edges_.push_back({w, i, reads ? u.datum : none, !reads});
        if (u.mode == access_mode::in) continue;
        for (const std::uint32_t r : goes_on ? std::vector<std::uint32_t>{} : d.readers)
          edges_.push_back({r, i, none, true});
      }
      for (const std::uint32_t before : g.after_of(i)) edges_.push_back({before, i, none, false});
      for (const recorded_graph::use& u : g.uses_of(i)) enter(data[u.datum], u.mode, i);
      edges_end_.push_back(edges_.size());
    }
    link_successors(g.subtasks.size());
  }

  std::span<const edge> before(std::uint32_t i) const {
    const std::size_t first = i == 0 ? 0 : edges_end_[i - 1];
    return std::span(edges_).subspan(first, edges_end_[i] - first);
  }
  /// Numbers of edges.
  std::span<const std::uint32_t> after(std::uint32_t i) const {
    return std::span(out_).subspan(first_[i], first_[i + 1] - first_[i]);
  }
  const edge& at(std::uint32_t number) const { return edges_[number]; }

private:
  template <class State>
  static void enter(State& d, access_mode mode, std::uint32_t i) {
    if (mode == access_mode::in) return d.readers.push_back(i);
    if (mode != access_mode::add || !d.adding || !d.readers.empty()) {
      d.before = std::move(d.readers.empty() ? d.writers : d.readers);
      d.readers.clear(), d.writers.clear();
      d.adding = mode == access_mode::add;
    }
    d.writers.push_back(i);
  }
  void link_successors(std::size_t n) {
    first_.assign(n + 1, 0);
    for (const edge& e : edges_) ++first_[e.from + 1];
    for (std::size_t i = 0; i < n; ++i) first_[i + 1] += first_[i];
    out_.resize(edges_.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t k = 0; k < edges_.size(); ++k) out_[next[edges_[k].from]++] = k;
  }

  std::vector<edge> edges_;  // in the order of `to`
  std::vector<std::size_t> edges_end_, first_;
  std::vector<std::uint32_t> out_;  // in the order of `from`
};

/// How long each subtask and what comes after it take at least.
std::vector<double> levels(const recorded_graph& g, const dependences& d) {
  std::vector<double> level(g.subtasks.size());
  for (auto i = static_cast<std::uint32_t>(level.size()); i-- > 0;) {
    for (const std::uint32_t k : d.after(i)) level[i] = std::max(level[i], level[d.at(k).to]);
    level[i] += g.subtasks[i].duration;
  }
  return level;
}

std::uint32_t asked_rank(const recorded_graph& g, std::size_t i, const machine_model& on) {
  const std::uint32_t asked = g.subtasks[i].asked;
  return asked == recorded_graph::any_rank ? none : asked % on.nodes;
}

/// When a value, of one subtask and datum, is on a node.
class arrivals {
public:
  double* find(std::uint32_t from, std::uint32_t datum, std::uint32_t rank) {
    const auto at = times_.find(key(from, datum, rank));
    return at == times_.end() ? nullptr : &at->second;
  }
  void set(std::uint32_t from, std::uint32_t datum, std::uint32_t rank, double time) {
    times_[key(from, datum, rank)] = time;
  }

private:
  struct key_type {
    std::uint64_t value;
    std::uint32_t rank;
    bool operator==(const key_type&) const = default;
  };
  struct hash {
    std::size_t operator()(const key_type& k) const noexcept {
      return (k.value * 0x9e3779b97f4a7c15u) ^ (std::uint64_t{k.rank} * 0xbf58476d1ce4e5b9u);
    }
  };
  static key_type key(std::uint32_t from, std::uint32_t datum, std::uint32_t rank) {
    return {std::uint64_t{from} << 32 | datum, rank};
  }
  std::unordered_map<key_type, double, hash> times_;
};

double bytes_of(const recorded_graph& g, std::uint32_t datum) {
  return datum == none ? 0 : g.bytes[datum];
}

}  // namespace

double critical_path(const recorded_graph& g) {
  const auto level = levels(g, dependences(g));
  return level.empty() ? 0 : *std::ranges::max_element(level);
}

// ---- the model

namespace {

/// Events in the order of time. What runs is a subtask, or the taking out of a value.
class simulation {
public:
  simulation(const recorded_graph& g, const machine_model& on,
             const std::vector<std::uint32_t>& ranks)
      : g_(g), on_(on), ranks_(ranks), d_(g), nodes_(on.nodes), unmet_(g.subtasks.size()) {
    for (node& n : nodes_) n.free = on.workers;
  }

  double run() {
    for (std::uint32_t i = 0; i < unmet_.size(); ++i) {
      for (const auto& e : d_.before(i)) unmet_[i] += matters(e) ? 1u : 0u;
      if (unmet_[i] == 0) nodes_[ranks_[i]].ready.push(i);
    }
    for (node& n : nodes_) begin_work(n, 0);
    double end = 0;
    while (!events_.empty()) {
      const event e = events_.top();
      events_.pop();
      end = e.at;
      begin_work(nodes_[happen(e)], e.at);
    }
    return end;
  }

private:
  struct event {
    double at;
    enum kind : std::uint8_t { subtask_ends, value_comes, value_is_out, worker_is_free } what;
    std::uint32_t which;  // subtask, transfer or node
    bool operator>(const event& b) const {
      return std::tie(at, what, which) > std::tie(b.at, b.what, b.which);
    }
  };
  using queue = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  struct node {
    queue ready;   // subtasks
    queue values;  // transfers that have come
    unsigned free = 0;
  };
  struct transfer {
    std::uint32_t datum, to;
    std::vector<std::uint32_t> edges;  // that it is for
  };

  bool matters(const dependences::edge& e) const {
    return !e.only_here || ranks_[e.from] == ranks_[e.to];
  }
  void meet(std::uint32_t i) {
    if (--unmet_[i] == 0) nodes_[ranks_[i]].ready.push(i);
  }
  /// Returns the node that may begin something now.
  std::uint32_t happen(const event& e) {
    switch (e.what) {
      case event::subtask_ends: end_subtask(e.which, e.at); return ranks_[e.which];
      case event::value_comes: nodes_[transfers_[e.which].to].values.push(e.which); break;
      case event::value_is_out:
        ++nodes_[transfers_[e.which].to].free;
        for (const std::uint32_t k : transfers_[e.which].edges) meet(d_.at(k).to);
        break;
      case event::worker_is_free: ++nodes_[e.which].free; return e.which;
    }
    return transfers_[e.which].to;
  }
  /// Its worker sends what others wait for, each value once to each node.
  void end_subtask(std::uint32_t i, double at) {
    const std::size_t first = transfers_.size();
    for (const std::uint32_t k : d_.after(i)) {
      const auto& e = d_.at(k);
      if (!matters(e)) continue;
      const std::uint32_t to = ranks_[e.to];
      if (to == ranks_[i]) meet(e.to);
      else transfer_to(to, e.datum, first).edges.push_back(k);
    }
    double free_at = at;
    for (std::size_t k = first; k < transfers_.size(); ++k) {
      const double bytes = bytes_of(g_, transfers_[k].datum);
      free_at += on_.messages.sending.of(bytes);
      events_.push({free_at + on_.messages.transit.of(bytes), event::value_comes,
                    static_cast<std::uint32_t>(k)});
    }
    events_.push({free_at, event::worker_is_free, ranks_[i]});
  }
  transfer& transfer_to(std::uint32_t rank, std::uint32_t datum, std::size_t first) {
    for (std::size_t k = first; k < transfers_.size(); ++k)
      if (transfers_[k].datum == datum && transfers_[k].to == rank) return transfers_[k];
    return transfers_.emplace_back(transfer{datum, rank, {}});
  }
  void begin_work(node& n, double now) {
    for (; n.free > 0 && !n.values.empty(); --n.free) {
      const std::uint32_t which = n.values.top();
      n.values.pop();
      events_.push({now + on_.messages.receiving.of(bytes_of(g_, transfers_[which].datum)),
                    event::value_is_out, which});
    }
    for (; n.free > 0 && !n.ready.empty(); --n.free) {
      const std::uint32_t which = n.ready.top();
      n.ready.pop();
      events_.push({now + g_.subtasks[which].duration, event::subtask_ends, which});
    }
  }

  const recorded_graph& g_;
  const machine_model& on_;
  const std::vector<std::uint32_t>& ranks_;
  const dependences d_;
  std::vector<node> nodes_;
  std::vector<std::uint32_t> unmet_;
  std::vector<transfer> transfers_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
};

}  // namespace

double simulated(const recorded_graph& g, const machine_model& on,
                 const std::vector<std::uint32_t>& ranks) {
  return simulation(g, on, ranks).run();
}

// ---- CP/MISF

std::vector<std::uint32_t> by_critical_path(const recorded_graph& g, const machine_model& on) {
  const dependences d(g);
  const auto level = levels(g, d);
  const auto n = static_cast<std::uint32_t>(g.subtasks.size());
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(level[a], d.after(a).size(), b) < std::tuple(level[b], d.after(b).size(), a);
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> ready(later);
  std::vector<std::uint32_t> ranks(n), unmet(n);
  std::vector<double> ends(n);
  // When the workers of a node are free; the first one is on top.
  using times = std::priority_queue<double, std::vector<double>, std::greater<>>;
  std::vector<times> free(on.nodes, times(std::greater<>(), std::vector<double>(on.workers)));
  arrivals there;
  for (std::uint32_t i = 0; i < n; ++i) {
    unmet[i] = static_cast<std::uint32_t>(d.before(i).size());
    if (unmet[i] == 0) ready.push(i);
  }
  // When it would end on that node: what is there has come, and has been taken out by a worker.
  const auto ends_on = [&](std::uint32_t i, std::uint32_t rank) {
    double at = free[rank].top(), taking_out = 0;
    for (const auto& e : d.before(i)) {
      if (ranks[e.from] == rank) {
        at = std::max(at, ends[e.from]);
      } else if (!e.only_here) {
        const double bytes = bytes_of(g, e.datum);
        const double* const known = there.find(e.from, e.datum, rank);
        at = std::max(at, known != nullptr ? *known
                                           : ends[e.from] + on.messages.sending.of(bytes) +
                                                 on.messages.transit.of(bytes));
        if (known == nullptr) taking_out += on.messages.receiving.of(bytes);
      }
    }
    return at + taking_out + g.subtasks[i].duration;
  };
  while (!ready.empty()) {
    const std::uint32_t i = ready.top();
    ready.pop();
    std::uint32_t best = asked_rank(g, i, on);
    if (best == none) {
      best = 0;
      double least = ends_on(i, 0);
      for (std::uint32_t rank = 1; rank < on.nodes; ++rank)
        if (const double at = ends_on(i, rank); at < least) least = at, best = rank;
    }
    ends[i] = ends_on(i, best);
    ranks[i] = best;
    free[best].pop();
    free[best].push(ends[i]);
    for (const auto& e : d.before(i))
      if (ranks[e.from] != best && !e.only_here)
        there.set(e.from, e.datum, best, ends[i] - g.subtasks[i].duration);
    for (const std::uint32_t k : d.after(i))
      if (--unmet[d.at(k).to] == 0) ready.push(d.at(k).to);
  }
  return ranks;
}

// ---- parts of homes

namespace {

/// Homes and how much they have to do with each other.
class affinities {
public:
  struct link {
    std::uint32_t to;
    double cost;  // microseconds of messages, if they are on two nodes
  };

  affinities(const recorded_graph& g, const machine_model& on)
      : work(g.bytes.size()), links_(g.bytes.size()) {
    std::vector<std::int64_t> writer(g.bytes.size(), -1);  // the home of the newest value's writer
    std::vector<std::uint64_t> version(g.bytes.size());
    std::unordered_map<std::uint64_t, double> cost;
    std::unordered_map<std::uint64_t, std::uint64_t> sent;  // the version that went last
    for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
      const std::int64_t home = g.home_of(i);
      if (home < 0) continue;
      const auto h = static_cast<std::uint32_t>(home);
      work[h] += g.subtasks[i].duration;
      for (const auto& u : g.uses_of(i)) {
        if (u.mode == access_mode::out || writer[u.datum] < 0 || writer[u.datum] == home) continue;
        // To each home once for each value.
        std::uint64_t& last = sent[std::uint64_t{u.datum} << 32 | h];
        if (last == version[u.datum]) continue;
        last = version[u.datum];
        const auto w = static_cast<std::uint32_t>(writer[u.datum]);
        cost[std::uint64_t{std::min(w, h)} << 32 | std::max(w, h)] +=
            on.messages.whole(g.bytes[u.datum]);
      }
      for (const auto& u : g.uses_of(i))
        if (u.mode != access_mode::in) writer[u.datum] = home, ++version[u.datum];
    }
    for (const auto& [pair, c] : cost) {
      const auto a = static_cast<std::uint32_t>(pair >> 32), b = static_cast<std::uint32_t>(pair);
      links_[a].push_back({b, c}), links_[b].push_back({a, c});
    }
    // In an order that does not depend on the library.
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

  /// Gives these homes the ranks from `first` on, so many.
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
  static constexpr double tolerance = 0.02;

  struct candidate {
    double gain;
    std::uint32_t home;
    bool operator<(const candidate& b) const {
      return std::tie(gain, b.home) < std::tie(b.gain, home);
    }
  };

  /// What the cut loses if it changes sides.
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
      // Nothing is linked to what it has: any other one.
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
    std::priority_queue<candidate> next;
    for (const std::uint32_t h : homes) {
      if (in_first_[h]) has += a_.work[h];
      gain_[h] = gain_of(h);
      next.push({gain_[h], h});
    }
    std::vector<bool> moved(a_.work.size());
    std::vector<std::uint32_t> moves;
    std::vector<candidate> too_heavy;
    double sum = 0, most = 0;
    std::size_t kept = 0;
    while (!next.empty()) {
      const auto [gain, h] = next.top();
      next.pop();
      if (moved[h] || gain != gain_[h]) continue;
      const double then = has + (in_first_[h] ? -a_.work[h] : a_.work[h]);
      if (std::abs(then - wanted) > std::max(tolerance * all, std::abs(has - wanted))) {
        too_heavy.push_back({gain, h});
        continue;
      }
      moved[h] = true, has = then, sum += gain;
      in_first_[h] = !in_first_[h];
      moves.push_back(h);
      if (sum > most) most = sum, kept = moves.size();
      for (const auto& l : a_.links(h)) {
        if (!inside_[l.to] || moved[l.to]) continue;
        gain_[l.to] = gain_of(l.to);
        next.push({gain_[l.to], l.to});
      }
      for (const candidate& c : std::exchange(too_heavy, {})) next.push(c);
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
  std::vector<std::uint32_t> ranks;
  std::uint32_t placeless = 0;
  for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
    const std::uint32_t asked = asked_rank(g, i, on);
    const std::int64_t home = g.home_of(i);
    ranks.push_back(asked != none ? asked
                    : home < 0    ? placeless++ % on.nodes
                                  : rank_of[static_cast<std::size_t>(home)]);
  }
  return ranks;
}

schedule best_schedule(const recorded_graph& g, const machine_model& on) {
  schedule best;
  best.time = std::numeric_limits<double>::max();
  const auto consider = [&](schedule::method by, std::vector<std::uint32_t> ranks) {
    const double time = simulated(g, on, ranks);
    if (time < best.time) best = {std::move(ranks), time, by};
  };
  if (on.nodes == g.nodes) {
    std::vector<std::uint32_t> ranks;
    for (const auto& s : g.subtasks) ranks.push_back(s.ran_on);
    consider(schedule::method::as_recorded, std::move(ranks));
  }
  // Also of fewer nodes: messages can cost more than others help.
  for (machine_model some = on; some.nodes > 0; some.nodes /= 2)
    consider(schedule::method::partition, by_partition(g, some));
  consider(schedule::method::critical_path, by_critical_path(g, on));
  return best;
}

}  // namespace cleave::detail
