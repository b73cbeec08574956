#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "graph/dependences.hpp"
#include "graph/schedule.hpp"

namespace cleave::detail {
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

}  // namespace cleave::detail
