#include "md_simulated.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "graph/schedule.hpp"
#include "md_by_dependences.hpp"
#include "md_problem.hpp"

namespace study::dynamics {
namespace {

using cleave::detail::access_mode;
using cleave::detail::bytes_of;
using cleave::detail::message_costs;
using cleave::detail::recorded_graph;
using numbers = std::vector<std::uint32_t>;

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
  node_log log_;
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

recorded_graph graph_of_plan(const recorded_graph& g, way by) {
  recorded_graph plan = g;
  if (by != way::initial_plan) return plan;
  double sum = 0;
  for (const auto& s : g.subtasks) sum += s.duration;
  for (auto& s : plan.subtasks) s.duration = sum / static_cast<double>(g.subtasks.size());
  return plan;
}

std::vector<std::uint32_t> nodes_of_subtasks(const recorded_graph& g, way by, unsigned nodes) {
  if (!has_plan(by)) return slabs(blocks_of(g), nodes);
  return best_schedule(graph_of_plan(g, by), {nodes, 1, g.messages, nullptr}).ranks;
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
  if (by != way::synchronous && by != way::loose) return run_by_dependences(p, by == way::dynamic);
  return in_phases(p, phases_of(g, blocks_of(g)), by == way::synchronous).run();
}

}  // namespace study::dynamics
