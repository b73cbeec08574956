#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "graph/dependences.hpp"
#include "graph/schedule.hpp"

namespace cleave::detail {
namespace {

/// Events in the order of time. What runs is a subtask, or the taking out of a value.
class simulation {
  using kind = dependences::kind;

public:
  simulation(const recorded_graph& g, const dependences& of, const machine_model& on,
             const std::vector<std::uint32_t>& ranks)
      : g_(g), on_(on), d_(of), nodes_(on.nodes), unmet_(d_.size()) {
    for (node& n : nodes_) n.free = on.workers;
    for (std::uint32_t v = 0; v < d_.size(); ++v)
      ranks_.push_back(is_subtask(v)          ? ranks[d_.subtask(v)]
                       : d_.before(v).empty() ? 0
                                              : ranks_[d_.before(v).back().from]);
  }

  double run() {
    for (std::uint32_t v = 0; v < d_.size(); ++v) {
      for (const auto& e : d_.before(v)) {
        if (d_.kind_of(v) == kind::join_readers) ++left_of(v, ranks_[e.from]);
        else unmet_[v] += matters(e) ? 1u : 0u;
      }
      if (is_subtask(v) && unmet_[v] == 0) nodes_[ranks_[v]].ready.push(v);
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
    std::uint32_t which;  // vertex, transfer or node
    bool operator>(const event& b) const {
      return std::tie(at, what, which) > std::tie(b.at, b.what, b.which);
    }
  };
  using queue = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  struct node {
    queue ready;   // vertices
    queue values;  // transfers that have come
    unsigned free = 0;
  };
  struct transfer {
    std::uint32_t to;
    std::vector<std::uint32_t> data;
    std::vector<std::uint32_t> edges;  // the edges that the transfer is for
    double bytes = 0;                  // of the data
  };

  bool is_subtask(std::uint32_t v) const { return d_.kind_of(v) == kind::subtask; }
  /// How many of the readers that a join joins are on that node and not done.
  std::uint32_t& left_of(std::uint32_t v, std::uint32_t rank) {
    auto& by_rank = left_[v];
    by_rank.resize(on_.nodes);
    return by_rank[rank];
  }
  /// Whether an edge matters; asked before anything is done.
  bool matters(const dependences::edge& e) {
    if (d_.kind_of(e.from) == kind::join_readers) return left_of(e.from, ranks_[e.to]) > 0;
    return !e.only_here || ranks_[e.from] == ranks_[e.to];
  }
  /// One vertex before v is done. If v is a join that is done by this, it goes to `done`.
  void meet(std::uint32_t v, std::vector<std::uint32_t>& done) {
    if (--unmet_[v] != 0) return;
    if (is_subtask(v)) nodes_[ranks_[v]].ready.push(v);
    else done.push_back(v);
  }
  void meet_on(std::uint32_t readers, std::uint32_t rank, std::vector<std::uint32_t>& done) {
    if (--left_of(readers, rank) != 0) return;
    for (const std::uint32_t k : d_.after(readers))
      if (ranks_[d_.at(k).to] == rank) meet(d_.at(k).to, done);
  }
  /// Returns the node that may begin something now.
  std::uint32_t happen(const event& e) {
    std::vector<std::uint32_t> done;
    std::uint32_t rank = e.which;
    switch (e.what) {
      case event::subtask_ends:
        rank = ranks_[e.which];
        done.push_back(e.which);
        events_.push({end_all(done, e.at), event::worker_is_free, rank});
        break;
      case event::value_comes:
        rank = transfers_[e.which].to;
        nodes_[rank].values.push(e.which);
        break;
      case event::value_is_out:
        rank = transfers_[e.which].to;
        for (const std::uint32_t k : transfers_[e.which].edges) meet(d_.at(k).to, done);
        if (done.empty()) ++nodes_[rank].free;
        else events_.push({end_all(done, e.at), event::worker_is_free, rank});
        break;
      case event::worker_is_free: ++nodes_[rank].free;
    }
    return rank;
  }
  /// Ends the vertices in `done`, all on one node, and joins of them. Their worker sends what
  /// others wait for, each value once to each node and all values for one as one message. Returns
  /// when it is free.
  double end_all(std::vector<std::uint32_t>& done, double at) {
    const std::size_t first = transfers_.size();
    for (std::size_t i = 0; i < done.size(); ++i) {
      const std::uint32_t rank = ranks_[done[i]];
      for (const std::uint32_t k : d_.after(done[i])) {
        const auto& e = d_.at(k);
        const std::uint32_t to = ranks_[e.to];
        if (d_.kind_of(e.to) == kind::join_readers) meet_on(e.to, rank, done);
        else if (to == rank) meet(e.to, done);
        else if (!e.only_here) transfer_to(to, e.datum, first).edges.push_back(k);
      }
    }
    for (std::size_t k = first; k < transfers_.size(); ++k) {
      const double bytes = transfers_[k].bytes;
      at += on_.messages.sending.of(bytes);
      events_.push({arrives(ranks_[done[0]], transfers_[k].to, bytes, at), event::value_comes,
                    static_cast<std::uint32_t>(k)});
    }
    return at;
  }
  double arrives(std::uint32_t from, std::uint32_t to, double bytes, double at) const {
    return on_.between != nullptr ? on_.between->arrives(from, to, bytes, at)
                                  : at + on_.messages.transit.of(bytes);
  }
  /// A rank of an MPI program has sent each value by itself.
  transfer& transfer_to(std::uint32_t rank, std::uint32_t datum, std::size_t first) {
    const auto at = std::find_if(
        transfers_.begin() + static_cast<std::ptrdiff_t>(first), transfers_.end(),
        [&](const transfer& t) { return t.to == rank && (!g_.of_ranks || t.data[0] == datum); });
    transfer& t = at != transfers_.end() ? *at : transfers_.emplace_back(transfer{rank, {}, {}});
    if (std::ranges::find(t.data, datum) == t.data.end()) {
      t.data.push_back(datum);
      t.bytes += bytes_of(g_, datum);
    }
    return t;
  }
  void begin_work(node& n, double now) {
    for (; n.free > 0 && !n.values.empty(); --n.free) {
      const std::uint32_t which = n.values.top();
      n.values.pop();
      events_.push(
          {now + on_.messages.receiving.of(transfers_[which].bytes), event::value_is_out, which});
    }
    for (; n.free > 0 && !n.ready.empty(); --n.free) {
      const std::uint32_t which = n.ready.top();
      n.ready.pop();
      events_.push({now + g_.subtasks[d_.subtask(which)].duration, event::subtask_ends, which});
    }
  }

  const recorded_graph& g_;
  const machine_model& on_;
  const dependences& d_;
  std::vector<std::uint32_t> ranks_;  // the node of each vertex
  std::vector<node> nodes_;
  // How many vertices each one waits for.
  std::vector<std::uint32_t> unmet_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> left_;  // see left_of()
  std::vector<transfer> transfers_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
};

}  // namespace

double simulated(const recorded_graph& g, const dependences& of, const machine_model& on,
                 const std::vector<std::uint32_t>& ranks) {
  return simulation(g, of, on, ranks).run();
}

double simulated(const recorded_graph& g, const machine_model& on,
                 const std::vector<std::uint32_t>& ranks) {
  return simulated(g, dependences(g), on, ranks);
}

}  // namespace cleave::detail
