#include "md_simulated.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "graph/dependences.hpp"

namespace study::dynamics {
namespace {

using cleave::detail::access_mode;
using cleave::detail::bytes_of;
using cleave::detail::dependences;
using cleave::detail::message_costs;
using cleave::detail::none;
using cleave::detail::recorded_graph;
using numbers = std::vector<std::uint32_t>;

// What both ways need. Without subtasks that add, each vertex is a subtask.
struct problem {
  problem(const recorded_graph& graph, const message_costs& costs, const numbers& on,
          unsigned count)
      : g(graph), d(graph), messages(costs), node_of(on), nodes(count) {}

  const recorded_graph& g;
  const dependences d;
  const message_costs& messages;
  const numbers& node_of;
  unsigned nodes;

  // Whether the end of `from` is told to another node.
  bool crosses(const dependences::edge& e) const {
    return node_of[e.from] != node_of[e.to] && !e.only_here;
  }
  bool is_here(const dependences::edge& e) const { return node_of[e.from] == node_of[e.to]; }
};

// Notes what nodes do.
class log {
public:
  explicit log(unsigned nodes) { run_.nodes.resize(nodes); }
  void computes(std::uint32_t node, int what, double begin, double end) {
    run_.nodes[node].computing += end - begin;
    run_.spans.push_back({node, what, begin, end});
  }
  void tells(std::uint32_t node, double begin, double end) {
    run_.nodes[node].communicating += end - begin;
    run_.spans.push_back({node, span_of_node::telling, begin, end});
  }
  simulated_run ended(double at) {
    run_.time = at;
    for (node_times& n : run_.nodes) n.waiting = at - n.computing - n.communicating;
    return std::move(run_);
  }

private:
  simulated_run run_;
};

// Events in the order of time. A node that is free takes out the first value that has come, else
// begins the first subtask, in program order, that can begin.
class by_dependences {
public:
  by_dependences(const problem& p, bool apart)
      : p_(p), apart_(apart), log_(p.nodes), unmet_(p.d.size()), nodes_(p.nodes) {}

  simulated_run run() {
    for (std::uint32_t i = 0; i < p_.d.size(); ++i) {
      for (const auto& e : p_.d.before(i)) unmet_[i] += !e.only_here || p_.is_here(e) ? 1u : 0u;
      if (unmet_[i] == 0) nodes_[p_.node_of[i]].ready.push(i);
    }
    for (std::uint32_t n = 0; n < p_.nodes; ++n) begin_work(n, 0);
    double end = 0;
    while (!events_.empty()) {
      const event e = events_.top();
      events_.pop();
      end = e.at;
      begin_work(happen(e), e.at);
    }
    return log_.ended(end);
  }

private:
  enum kind : std::uint8_t { subtask_ends, value_comes, value_is_out, node_is_free };
  struct event {
    double at;
    kind what;
    std::uint32_t which;  // subtask, transfer or node
    bool operator>(const event& b) const {
      return std::tie(at, what, which) > std::tie(b.at, b.what, b.which);
    }
  };
  using queue = std::priority_queue<std::uint32_t, numbers, std::greater<>>;
  struct node {
    queue ready;   // subtasks
    queue values;  // transfers that have come
    bool free = true;
  };
  struct transfer {
    std::uint32_t to;
    numbers data, readers;
  };

  // Returns the node that may begin something.
  std::uint32_t happen(const event& e) {
    if (e.what == node_is_free) {
      nodes_[e.which].free = true;
      return e.which;
    }
    if (e.what == subtask_ends) {
      const std::uint32_t n = p_.node_of[e.which];
      events_.push({end_subtask(e.which, e.at), node_is_free, n});
      return n;
    }
    const std::uint32_t n = transfers_[e.which].to;
    if (e.what == value_comes) {
      nodes_[n].values.push(e.which);
    } else {
      for (const std::uint32_t i : transfers_[e.which].readers) meet(i);
      nodes_[n].free = true;
    }
    return n;
  }
  void meet(std::uint32_t i) {
    if (--unmet_[i] == 0) nodes_[p_.node_of[i]].ready.push(i);
  }
  // Its node sends what others wait for, once to each of them. Returns when it is free.
  double end_subtask(std::uint32_t i, double at) {
    const std::size_t first = transfers_.size();
    for (const std::uint32_t k : p_.d.after(i)) {
      const auto& e = p_.d.at(k);
      if (p_.is_here(e)) meet(e.to);
      else if (p_.crosses(e)) add(e, first);
    }
    for (std::size_t k = first; k < transfers_.size(); ++k) {
      const double bytes = bytes_in(transfers_[k]), begin = at;
      at += p_.messages.sending.of(bytes);
      log_.tells(p_.node_of[i], begin, at);
      events_.push(
          {at + p_.messages.transit.of(bytes), value_comes, static_cast<std::uint32_t>(k)});
    }
    return at;
  }
  // Adds an edge to a transfer from number `first` on.
  void add(const dependences::edge& e, std::size_t first) {
    const std::uint32_t to = p_.node_of[e.to];
    const auto at = std::find_if(
        transfers_.begin() + static_cast<std::ptrdiff_t>(first), transfers_.end(),
        [&](const transfer& t) { return t.to == to && (!apart_ || t.data[0] == e.datum); });
    transfer& its = at != transfers_.end() ? *at : transfers_.emplace_back(transfer{to, {}, {}});
    if (std::ranges::find(its.data, e.datum) == its.data.end()) its.data.push_back(e.datum);
    its.readers.push_back(e.to);
  }
  double bytes_in(const transfer& t) const {
    double sum = 0;
    for (const std::uint32_t datum : t.data) sum += bytes_of(p_.g, datum);
    return sum;
  }
  static std::uint32_t take(queue& from) {
    const std::uint32_t first = from.top();
    from.pop();
    return first;
  }
  void begin_work(std::uint32_t n, double now) {
    node& of = nodes_[n];
    if (!of.free || (of.values.empty() && of.ready.empty())) return;
    of.free = false;
    if (!of.values.empty()) {
      const std::uint32_t k = take(of.values);
      const double end = now + p_.messages.receiving.of(bytes_in(transfers_[k]));
      log_.tells(n, now, end);
      events_.push({end, value_is_out, k});
      return;
    }
    const std::uint32_t i = take(of.ready);
    const auto& s = p_.g.subtasks[i];
    log_.computes(n, static_cast<int>(s.name), now, now + s.duration);
    events_.push({now + s.duration, subtask_ends, i});
  }

  const problem& p_;
  bool apart_;
  log log_;
  numbers unmet_;  // how many others each subtask waits for
  std::vector<node> nodes_;
  std::vector<transfer> transfers_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
};

class in_phases {
public:
  in_phases(const problem& p, const numbers& phases, bool strict)
      : p_(p), phases_(phases), strict_(strict), log_(p.nodes), free_(p.nodes) {}

  simulated_run run() {
    for (std::uint32_t i = 0; i < p_.d.size();) {
      std::uint32_t end = i;
      while (end < p_.d.size() && phases_[end] == phases_[i]) ++end;
      phase(i, end);
      i = end;
    }
    return log_.ended(*std::ranges::max_element(free_));
  }

private:
  struct message {
    std::uint32_t from, to;
    double bytes, comes;
  };

  void phase(std::uint32_t first, std::uint32_t end) {
    std::vector<message> sent;
    for (std::uint32_t i = first; i < end; ++i) {
      double& at = free_[p_.node_of[i]];
      const auto& s = p_.g.subtasks[i];
      log_.computes(p_.node_of[i], static_cast<int>(s.name), at, at + s.duration);
      at += s.duration;
      add_messages(i, sent);
    }
    if (!strict_) join(sent);
    for (message& m : sent) {
      tell(m.from, p_.messages.sending.of(m.bytes));
      m.comes = free_[m.from] + p_.messages.transit.of(m.bytes);
    }
    std::ranges::sort(sent, {}, [](const message& m) { return std::tuple(m.comes, m.from, m.to); });
    for (const message& m : sent) {
      free_[m.to] = std::max(free_[m.to], m.comes);
      tell(m.to, p_.messages.receiving.of(m.bytes));
    }
    if (strict_) std::ranges::fill(free_, *std::ranges::max_element(free_) + barrier());
  }
  // Appends what others read of it: a message for each node, with each value once.
  void add_messages(std::uint32_t i, std::vector<message>& to) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> known;  // node, datum
    const auto first = static_cast<std::ptrdiff_t>(to.size());
    for (const std::uint32_t k : p_.d.after(i)) {
      const auto& e = p_.d.at(k);
      const std::pair its{p_.node_of[e.to], e.datum};
      if (!p_.crosses(e) || std::ranges::find(known, its) != known.end()) continue;
      known.push_back(its);
      const auto at = std::find_if(to.begin() + first, to.end(),
                                   [&its](const message& m) { return m.to == its.first; });
      if (at != to.end()) at->bytes += bytes_of(p_.g, e.datum);
      else to.push_back({p_.node_of[i], its.first, bytes_of(p_.g, e.datum), 0});
    }
  }
  static void join(std::vector<message>& all) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes;
    for (const message& m : all) bytes[{m.from, m.to}] += m.bytes;
    all.clear();
    for (const auto& [ends, sum] : bytes) all.push_back({ends.first, ends.second, sum, 0});
  }
  void tell(std::uint32_t node, double takes) {
    log_.tells(node, free_[node], free_[node] + takes);
    free_[node] += takes;
  }
  // In each of log2(nodes) rounds every node sends an empty message and receives one.
  double barrier() const {
    return static_cast<double>(std::bit_width(p_.nodes - 1)) * p_.messages.whole(0);
  }

  const problem& p_;
  const numbers& phases_;
  bool strict_;
  log log_;
  std::vector<double> free_;  // when each node has done what it had to
};

}  // namespace

blocks_of_graph blocks_of(const recorded_graph& g) {
  blocks_of_graph found;
  constexpr auto unknown = ~std::uint32_t{0};
  numbers of_datum(g.bytes.size(), unknown);
  for (std::size_t i = 0; i < g.subtasks.size(); ++i) {
    const auto uses = g.uses_of(i);
    if (!uses.empty() && g.names[g.subtasks[i].name] == "begin" &&
        of_datum[uses[0].datum] == unknown)
      of_datum[uses[0].datum] = found.count++;
    const std::uint32_t block = uses.empty() ? unknown : of_datum[uses[0].datum];
    found.of.push_back(block == unknown ? 0 : block);
  }
  if (found.count == 0) throw std::runtime_error("the recorded graph has no blocks");
  return found;
}

std::vector<std::uint32_t> slabs(const blocks_of_graph& blocks, unsigned nodes) {
  numbers found;
  for (const std::uint32_t b : blocks.of)
    found.push_back(static_cast<std::uint32_t>(std::uint64_t{b} * nodes / blocks.count));
  return found;
}

std::vector<std::uint32_t> phases_of(const recorded_graph& g, const blocks_of_graph& blocks) {
  constexpr auto nobody = ~std::uint32_t{0};
  numbers found, writer(g.bytes.size(), nobody);
  std::uint32_t phase = 0;
  for (std::uint32_t i = 0; i < g.subtasks.size(); ++i) {
    for (const auto& u : g.uses_of(i)) {
      const std::uint32_t w = u.mode == access_mode::out ? nobody : writer[u.datum];
      if (w != nobody && found[w] == phase && blocks.of[w] != blocks.of[i]) {
        ++phase;
        break;
      }
    }
    for (const auto& u : g.uses_of(i))
      if (u.mode != access_mode::in) writer[u.datum] = i;
    found.push_back(phase);
  }
  return found;
}

simulated_run simulate(const recorded_graph& g, const message_costs& messages, const numbers& on,
                       unsigned nodes, way by) {
  if (std::ranges::any_of(g.uses, [](const auto& u) { return u.mode == access_mode::add; }))
    throw std::runtime_error("the recorded graph has subtasks that add: expected one of md");
  const problem p(g, messages, on, nodes);
  if (by == way::dependences || by == way::apart) return by_dependences(p, by == way::apart).run();
  return in_phases(p, phases_of(g, blocks_of(g)), by == way::synchronous).run();
}

}  // namespace study::dynamics
