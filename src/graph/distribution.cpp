#include <cleave/detail/graph/distribution.hpp>

#include <cleave/detail/set_while.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

#include "graph/lending.hpp"
#include "graph/making_ahead.hpp"
#include "graph/placement.hpp"
#include "graph/recorder.hpp"
#include "graph/replanning.hpp"
#include "graph/transfers.hpp"
#include "travel/exceptions.hpp"

namespace cleave::detail {
namespace {

/// Whether this thread is in a subtask of a graph of several nodes.
thread_local bool is_in_subtask = false;

}  // namespace

bool datum_place::has(unsigned rank) const noexcept {
  return holders.empty() || std::ranges::find(holders, rank) != holders.end();
}

// ---- a distribution

distribution::distribution(graph_scope& g, team_node& node, std::string plan)
    : graph_(g), node_(node) {
  // A graph whose nodes lend is made first: what is not made yet cannot be lent.
  if (g.lends == nullptr) ahead_ = std::make_unique<making_ahead>(g, node.watch());
  between_.sent.resize(size());
  between_.from.resize(size());
  planning_.file = std::move(plan);
  if (g.lends != nullptr) g.lends->use(*this), made_.all.add(entry::lends);
  node_.enter(*this);
}

distribution::~distribution() = default;

void distribution::leave() noexcept { node_.leave(*this); }

void distribution::check(unsigned rank) const {
  if (rank >= size())
    throw std::out_of_range("cleave::team_graph: node " + std::to_string(rank) + " of a team of " +
                            std::to_string(size()));
}

unsigned distribution::home_of(std::span<const datum_use> uses) noexcept {
  const datum_use* const u = deciding(uses);
  return u != nullptr ? u->of->place.home : made_.placeless++ % size();
}

unsigned distribution::place(const char* name, std::span<const datum_use> uses,
                             std::span<vertex_ref> after, std::optional<unsigned> asked) {
  made_.to_push.clear();
  if (asked) check(*asked);
  const auto planned = planning_.plan != nullptr ? planning_.plan->next(uses) : std::nullopt;
  const auto anew = replanning_ != nullptr ? replanned(uses, asked) : std::nullopt;
  const unsigned to = asked ? *asked : anew ? *anew : planned ? *planned : home_of(uses);
  if (mine_.is_on && uses.empty() && !asked)
    refuse_in_mine("a subtask that uses no data needs on(rank)");
  if (mine_.is_on) require_at_home(uses, to);
  // Where the plan ends, what it has found goes on.
  if (const auto* const u = deciding(uses); (anew || planned) && !asked && u != nullptr)
    u->of->place.home = to;
  if (replanning_ != nullptr) made_.role = replanning_->placed(to) + 1;
  // Each transfer that there may be has a number, so that all nodes count alike.
  const std::uint64_t before = graph_.made_;
  graph_.made_ += uses.size() + after.size() + 1;
  if (!mine_.is_on) add_to_hash(uses, after, to);
  try {
    if (planning_.recording != nullptr)
      planning_.recording->place(graph_.made_, name, uses, after, asked, to);
    begin_transfers(uses, after, to, before);
    if (graph_.lends != nullptr) graph_.lends->place(graph_.made_, uses, to, asked.has_value());
  } catch (...) {
    graph_.not_made(uses, after);
    cancel();  // others may wait for what this node was to send
    throw;
  }
  flush();
  return to;
}

void distribution::add_to_hash(std::span<const datum_use> uses, std::span<const vertex_ref> after,
                               unsigned to) noexcept {
  made_.all.add(entry::subtask), made_.all.add(after.size());
  (replanning_ != nullptr ? made_.placed : made_.all).add(to);
  for (const datum_use& u : uses)
    made_.all.add(u.of->place.number), made_.all.add(static_cast<std::uint64_t>(u.mode));
  for (const vertex_ref& v : after) made_.all.add(v.number);
}

void distribution::begin_transfers(std::span<const datum_use> uses, std::span<vertex_ref> after,
                                   unsigned to, std::uint64_t number) {
  for (const datum_use& u : uses) {
    ++number;
    if (u.mode == access_mode::out) continue;
    transfer(*u.of, to, number);
    note_reading(u.of->place, to);
  }
  for (vertex_ref& v : after) {
    ++number;
    if (v.number != 0 && v.rank != to) v = signal(v, to, number);
  }
  for (const datum_use& u : uses) {
    if (u.mode == access_mode::in) continue;
    note_writing(u, to);
    log(u.of->place, graph_.made_, to, true);
    u.of->place.holders.assign(1, to);
    u.of->place.is_here = to == rank();
  }
}

/// After an error in for_mine() each datum is at its home, whatever was before.
void distribution::log(datum_place& of, std::uint64_t number, unsigned node, bool writes) {
  if (mine_.is_on) return;
  holders_.before.insert(holders_.before.end(), of.holders.begin(), of.holders.end());
  holders_.changes.push_back(
      {number, &of, holders_.before.size() - of.holders.size(), node, writes});
}

/// What came after the error has not been done, or in vain: not all nodes have what they would have
/// otherwise. A node that may have written in vain, or got what was, is no holder if there are
/// others.
void distribution::take_back(std::uint64_t error) {
  const auto is_undone = [&](const change& c) {
    return c.number > error || (c.number == error && !c.writes);
  };
  const auto first = std::ranges::find_if(holders_.changes, is_undone);
  std::size_t end = holders_.before.size();
  for (auto c = holders_.changes.end(); c != first;) {
    const auto held = holders_.before.begin() + static_cast<std::ptrdiff_t>((--c)->held_from);
    c->of->holders.assign(held, holders_.before.begin() + static_cast<std::ptrdiff_t>(end));
    end = c->held_from;
  }
  std::unordered_set<const datum_place*> written;
  for (auto c = first; c != holders_.changes.end(); ++c) {
    auto& holders = c->of->holders;
    if (c->writes) written.insert(c->of);
    if (c->writes && holders.empty()) {  // all have it
      holders.resize(size());
      std::iota(holders.begin(), holders.end(), 0u);
    }
    if (written.contains(c->of) && holders.size() > 1) std::erase(holders, c->node);
    c->of->is_here = c->of->has(rank());
  }
}

void distribution::run(subtask& s) {
  const set_while running(is_in_subtask);
  const auto call = [&] {
    if (s.role_ == 0) s.call();
    else replanning_->run(s.role_ - 1, [&] { s.call(); });
  };
  if (planning_.recording == nullptr) return call();
  const double began = recorder::now();
  call();
  const double time = recorder::now() - began;
  switch (s.kind_) {
    case subtask::kind::call: return planning_.recording->took(s.in_graph().number, time);
    case subtask::kind::send: return planning_.recording->sent(static_cast<send&>(s).bytes, time);
    case subtask::kind::receive:
      return planning_.recording->received(static_cast<receive_values&>(s).bytes, time);
    case subtask::kind::join: return;  // there is nothing to run
  }
}

void distribution::bring(any_datum& d, unsigned to) {
  check(to);
  if (mine_.is_on) refuse_in_mine("brings no datum");
  made_.all.add(entry::copy), made_.all.add(d.place.number), made_.all.add(to);
  ++graph_.made_;
  try {
    transfer(d, to, graph_.made_);
  } catch (...) {
    graph_.not_made({}, {});
    cancel();
    throw;
  }
  flush();
}

bool distribution::go_on(bool is_here) noexcept {
  if (ahead_ == nullptr) return false;
  if (is_here) ahead_->made();
  ahead_->go_on();
  return true;
}

void distribution::completed(const subtask& s) noexcept {
  // One that sends or joins does not flush: others that send may come after the same one.
  if (s.kind_ != subtask::kind::call && s.kind_ != subtask::kind::receive) return;
  if (s.kind_ == subtask::kind::call && ahead_ != nullptr) ahead_->done();
  flush();
}

/// Whether there is something to flush, which the caller does.
bool distribution::begin_flush() noexcept {
  // acq_rel: what is set from here on is of something that this flush may not see. Partner:
  // send_values.
  return unflushed_.load(std::memory_order_relaxed) &&
         unflushed_.exchange(false, std::memory_order_acq_rel);
}

/// Sends on what this thread has sent. No message of another thread is forgotten: the thread that
/// sets the flag comes here after that.
void distribution::flush() noexcept {
  if (!begin_flush()) return;
  const double began = planning_.recording != nullptr ? recorder::now() : 0;
  node_.flush();
  if (planning_.recording != nullptr) planning_.recording->flushed(recorder::now() - began);
}

void distribution::transfer(any_datum& d, unsigned to, std::uint64_t number) {
  if (d.place.has(to)) return;
  const auto& holders = d.place.holders;
  const unsigned from = mine_.is_on ? d.place.home : holders[(holders.size() - 1) / value_branches];
  any_datum* const it = &d;
  transfer({&it, 1}, from, to, number);
}

void distribution::transfer(data_list data, unsigned from, unsigned to, std::uint64_t number) {
  for (any_datum* const d : data) {
    log(d->place, number, to, false);
    d->place.holders.push_back(to);
    if (to == rank()) d->place.is_here = true;
  }
  if (from == rank()) make_send(data, {}, to, number);
  if (to == rank()) make_receive(data, from, number);
}

/// Tells another node that a subtask is done, and returns the subtask that stands for it there.
vertex_ref distribution::signal(const vertex_ref& from, unsigned to, std::uint64_t number) {
  if (from.rank == rank()) make_send({}, {&from, 1}, to, number);
  return to == rank() ? make_receive({}, from.rank, number) : vertex_ref{};
}

std::span<const datum_use> distribution::uses_of(data_list data, access_mode mode) {
  between_.uses.clear();
  for (any_datum* const d : data) between_.uses.push_back({d, mode});
  return between_.uses;
}

/// A transfer without data tells only that something is done.
vertex_ref distribution::make_send(data_list data, std::span<const vertex_ref> after, unsigned to,
                                   std::uint64_t number) {
  std::unique_ptr<subtask> s(new (graph_.memory) send(*this, data, to, between_.sent[to]));
  ++between_.sent[to];
  return graph_.link(std::move(s), uses_of(data, access_mode::in), after, number);
}

vertex_ref distribution::make_receive(data_list data, unsigned from, std::uint64_t number) {
  std::unique_ptr<subtask> s(new (graph_.memory) receive_values(*this, data, from));
  return graph_.link(std::move(s), uses_of(data, access_mode::out), {}, number);
}

// ---- a graph of a team

void graph_scope::distribute(team_node& of, const std::string& plan, bool lends_subtasks) {
  if (of.size == 1 && plan.empty()) return;
  // Graphs of two workers could be made in one order here and in another one there, and a graph of
  // a subtask on one node only.
  if (owner == nullptr || owner != of.began_on || is_in_subtask)
    throw std::logic_error(
        "cleave::team_graph: not made by the worker that began the team's task, or in a subtask");
  if (lends_subtasks) {
    order_ready();
    lends = std::make_unique<lending>(*this, of);
  }
  nodes = std::make_unique<distribution>(*this, of, plan);
  from_nodes = of.watch();
  if (!plan.empty()) nodes->open_plan();
}

void graph_scope::replan(unsigned steps) {
  if (steps == 0) throw std::invalid_argument("cleave::team_graph::replan_every: no steps");
  if (std::exchange(is_planned_anew_, true))
    throw std::logic_error("cleave::team_graph::replan_every: called before");
  if (nodes != nullptr && nodes->size() > 1) nodes->replan_every(steps);
}

bool graph_scope::place(const char* name, std::span<const datum_use> uses,
                        std::span<vertex_ref> after, std::optional<unsigned> rank, vertex_ref& of) {
  if (!nodes->is_mine())
    refuse_in_replay("the subtasks of a team of several members are made in for_mine()");
  of.rank = nodes->place(name, uses, after, rank);
  of.number = made_;
  if (of.rank == nodes->rank()) return true;
  nodes->push(of.rank);
  nodes->go_on(false);
  return false;
}

void graph_scope::not_made(std::span<const datum_use> uses,
                           std::span<const vertex_ref> after) noexcept {
  if (nodes == nullptr) return;
  try {
    throw;
  } catch (const cancelled&) {
    // The graph, or a scope around it: wait() tells.
  } catch (...) {
    // The number is that of the subtask's first transfer: nothing of the subtask counts.
    keep(made_ - uses.size() - after.size(), std::current_exception());
  }
}

void graph_scope::give_home(any_datum& d) {
  if (nodes != nullptr) nodes->give_home(d.place);
}

void graph_scope::home(any_datum& d, unsigned rank) const {
  if (nodes == nullptr) return;
  nodes->check(rank);
  d.place.home = rank;
}

void graph_scope::bring_to(any_datum& d, unsigned rank) {
  refuse_in_replay("brings no datum");
  if (nodes != nullptr) nodes->bring(d, rank);
}

void graph_scope::bring_to_all(any_datum& d) {
  refuse_in_replay("brings no datum");
  for (unsigned rank = 0; nodes != nullptr && rank < nodes->size(); ++rank) nodes->bring(d, rank);
}

}  // namespace cleave::detail
