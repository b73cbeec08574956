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

#include "graph/placement.hpp"
#include "graph/recorder.hpp"
#include "graph/replanning.hpp"
#include "travel/exceptions.hpp"

namespace cleave::detail {
namespace {

/// A value goes to so many by its writer; then those that have it pass it on to as many each.
constexpr std::size_t value_branches = 4;

/// Whether this thread is in a subtask of a graph of several nodes.
thread_local bool is_in_subtask = false;

/// The number of no datum, for messages that tell only that something is done.
constexpr std::uint32_t no_datum = std::numeric_limits<std::uint32_t>::max();
std::uint32_t number_of(const any_datum* d) noexcept {
  return d != nullptr ? d->place.number : no_datum;
}

}  // namespace

bool datum_place::has(unsigned rank) const noexcept {
  return holders.empty() || std::ranges::find(holders, rank) != holders.end();
}

// ---- the two sides of a transfer

class distribution::send final : public subtask {
public:
  send(distribution& by, const any_datum* d, unsigned to, std::uint64_t number) noexcept
      : subtask(by.graph_, kind::send), by_(by), datum_(d), to_(to), number_(number) {
    name = "send";
  }
  void call() override { bytes = by_.send_value(datum_, to_, number_); }
  void skip() noexcept override { by_.send_value(datum_, to_, number_); }

  std::size_t bytes = 0;  // the length of the message

private:
  distribution& by_;
  const any_datum* datum_;  // null: the message tells only that something is done
  unsigned to_;
  std::uint64_t number_;
};

class distribution::receive_value final : public subtask {
public:
  receive_value(distribution& by, any_datum* d) noexcept
      : subtask(by.graph_, kind::receive), by_(by), datum_(d) {
    name = "receive";
  }
  void call() override {
    bytes = arrival.message.size();
    if (!arrival.has_value) return by_.keep_reason(arrival);
    if (arrival.datum != number_of(datum_)) throw distribution::different_graphs();
    if (datum_ == nullptr) return;
    byte_reader r(std::span<const std::byte>(arrival.message).subspan(arrival.first));
    datum_->get(r);
    r.expect_end();
    arrival.message = {};
  }
  arrived arrival;
  std::size_t bytes = 0;

private:
  distribution& by_;
  any_datum* datum_;
};

// ---- a distribution

distribution::distribution(graph_scope& g, team_node& node, std::string plan)
    : graph_(g), node_(node) {
  planning_.file = std::move(plan);
  node_.enter(*this);
}

distribution::~distribution() { node_.leave(*this); }

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
  if (asked) check(*asked);
  const auto planned = planning_.plan != nullptr ? planning_.plan->next(uses) : std::nullopt;
  const auto anew = replanning_ != nullptr ? replanned(uses, asked) : std::nullopt;
  const unsigned to = asked ? *asked : anew ? *anew : planned ? *planned : home_of(uses);
  // Where the plan ends, what it has found goes on.
  if (const auto* const u = deciding(uses); (anew || planned) && !asked && u != nullptr)
    u->of->place.home = to;
  if (replanning_ != nullptr) made_.role = replanning_->placed(to) + 1;
  // Each transfer that there may be has a number, so that all nodes count alike.
  const std::uint64_t before = graph_.made_;
  graph_.made_ += uses.size() + after.size() + 1;
  made_.all.add(entry::subtask), made_.all.add(after.size());
  (replanning_ != nullptr ? made_.placed : made_.all).add(to);
  for (const datum_use& u : uses)
    made_.all.add(u.of->place.number), made_.all.add(static_cast<std::uint64_t>(u.mode));
  for (const vertex_ref& v : after) made_.all.add(v.number);
  try {
    if (planning_.recording != nullptr)
      planning_.recording->place(graph_.made_, name, uses, after, asked, to);
    begin_transfers(uses, after, to, before);
  } catch (...) {
    graph_.not_made(uses, after);
    cancel();  // others may wait for what this node was to send
    throw;
  }
  flush();
  return to;
}

void distribution::begin_transfers(std::span<const datum_use> uses, std::span<vertex_ref> after,
                                   unsigned to, std::uint64_t number) {
  for (const datum_use& u : uses) {
    ++number;
    if (u.mode != access_mode::out) transfer(*u.of, to, number);
  }
  for (vertex_ref& v : after) {
    ++number;
    if (v.number != 0 && v.rank != to) v = signal(v, to, number);
  }
  for (const datum_use& u : uses) {
    if (u.mode == access_mode::in) continue;
    log(u.of->place, graph_.made_, to, true);
    u.of->place.holders.assign(1, to);
    u.of->place.is_here = to == rank();
  }
}

void distribution::log(datum_place& of, std::uint64_t number, unsigned node, bool writes) {
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
      return planning_.recording->received(static_cast<receive_value&>(s).bytes, time);
    case subtask::kind::join: return;  // there is nothing to run
  }
}

void distribution::bring(any_datum& d, unsigned to) {
  check(to);
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

/// Sends on what this thread has sent. No message of another thread is forgotten: the thread that
/// sets the flag comes here after that.
void distribution::flush() noexcept {
  if (!unflushed_.load(std::memory_order_relaxed)) return;
  // acq_rel: what is set from here on is of something that this flush may not see. Partner:
  // send_value.
  if (!unflushed_.exchange(false, std::memory_order_acq_rel)) return;
  const double began = planning_.recording != nullptr ? recorder::now() : 0;
  node_.flush();
  if (planning_.recording != nullptr) planning_.recording->flushed(recorder::now() - began);
}

void distribution::transfer(any_datum& d, unsigned to, std::uint64_t number) {
  if (d.place.has(to)) return;
  auto& holders = d.place.holders;
  const unsigned from = holders[(holders.size() - 1) / value_branches];
  log(d.place, number, to, false);
  holders.push_back(to);
  if (from == rank()) make_send(&d, {}, to, number);
  if (to == rank()) {
    make_receive(&d, number);
    d.place.is_here = true;
  }
}

/// Tells another node that a subtask is done, and returns the subtask that stands for it there.
vertex_ref distribution::signal(const vertex_ref& from, unsigned to, std::uint64_t number) {
  if (from.rank == rank()) make_send(nullptr, {&from, 1}, to, number);
  return to == rank() ? make_receive(nullptr, number) : vertex_ref{};
}

vertex_ref distribution::make_send(any_datum* d, std::span<const vertex_ref> after, unsigned to,
                                   std::uint64_t number) {
  const datum_use reads{d, access_mode::in};
  std::unique_ptr<subtask> s(new (graph_.memory) send(*this, d, to, number));
  return graph_.link(std::move(s), {&reads, d != nullptr ? 1u : 0u}, after, number);
}

vertex_ref distribution::make_receive(any_datum* d, std::uint64_t number) {
  const datum_use writes{d, access_mode::out};
  std::unique_ptr<subtask> s(new (graph_.memory) receive_value(*this, d));
  return graph_.link(std::move(s), {&writes, d != nullptr ? 1u : 0u}, {}, number);
}

// ---- messages

std::vector<std::byte> distribution::begin(kind k) const {
  auto message = team_node::begin_message(port);
  byte_writer(message).put(static_cast<std::uint8_t>(k));
  return message;
}

/// What this node knows of errors and of cancellation.
void distribution::put_state(std::vector<std::byte>& message) {
  byte_writer w(message);
  w.put(detail::stopped(&graph_));
  const std::lock_guard lock(failure_.mutex);
  w.put(failure_.number);
  w.raw(failure_.bytes.data(), failure_.bytes.size());
}

void distribution::get_state(byte_reader& r) {
  const bool is_cancelled = r.get<bool>();
  get_error(r);
  if (is_cancelled && !incoming_.released) {
    detail::stop(graph_);
    release();
  }
}

void distribution::get_error(byte_reader& r) {
  if (const auto number = r.get<std::uint64_t>(); number != 0) {
    const auto error = r.raw(r.left());
    keep(number, {error.begin(), error.end()});
    byte_reader again(error);
    std::exception_ptr thrown;
    try {
      thrown = get_exception(again);
    } catch (...) { thrown = std::current_exception(); }  // its type cannot be made of this
    graph_.error.keep(number, std::move(thrown));
  }
}

/// Keeps the error that a message without a value tells of. The node was told when the message
/// came, but may have held an earlier round's error then, and not kept this one.
void distribution::keep_reason(const arrived& a) {
  if (a.message.empty()) return;  // nothing is waited for any more
  byte_reader r(std::span<const std::byte>(a.message).subspan(a.first));
  r.get<bool>();  // a cancellation holds from when it was told
  get_error(r);
}

void distribution::note(std::uint64_t number, const std::exception_ptr& e) noexcept {
  keep(number, exception_bytes(e));
}

void distribution::keep(std::uint64_t number, std::vector<std::byte> error) {
  const std::lock_guard lock(failure_.mutex);
  if (failure_.number != 0 && failure_.number <= number) return;
  failure_.number = number, failure_.bytes = std::move(error);
}

/// A node that waits for a value always gets something: if it is not to be had, why.
std::size_t distribution::send_value(const any_datum* d, unsigned to,
                                     std::uint64_t number) noexcept {
  if (!graph_.error.is_before(number)) {
    try {
      auto message = begin(planning_.recording != nullptr ? kind::timed_value : kind::value);
      byte_writer w(message);
      w.put(number);
      if (planning_.recording != nullptr) w.put<std::uint32_t>(rank()), w.put(recorder::now());
      w.put(number_of(d));
      if (d != nullptr) d->put(w);
      const std::size_t size = message.size();
      node_.send(to, std::move(message));
      unflushed_.store(true, std::memory_order_release);  // partner: flush
      return size;
    } catch (...) { graph_.keep(number, std::current_exception()); }
  }
  auto message = begin(kind::absent);
  byte_writer(message).put(number);
  tell(to, std::move(message));
  return 0;
}

void distribution::await_arrival(subtask& s) {
  auto& r = static_cast<receive_value&>(s);
  const std::uint64_t number = s.in_graph().number;
  const std::lock_guard lock(node_.mutex);
  auto early = incoming_.early.extract(number);
  const bool is_here = incoming_.released || !early.empty();
  if (!is_here) incoming_.awaited[number] = &r;
  graph_.pending.begin();
  // The maker of the subtask still counts: the subtask cannot run yet.
  if (is_here) arrives(r, early.empty() ? arrived{} : std::move(early.mapped()));
}

/// Called with the team's mutex. Afterwards the subtask may be gone.
void distribution::arrives(receive_value& r, arrived a) noexcept {
  r.arrival = std::move(a);
  // acq_rel: it, and what those before it did. Partner: the others that count off.
  if (r.in_graph().unmet.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(r);
}

bool distribution::receive(std::vector<std::byte> message, std::size_t first) {
  byte_reader r(std::span<const std::byte>(message).subspan(first));
  const auto what = static_cast<kind>(r.get<std::uint8_t>());
  switch (what) {
    case kind::value:
    case kind::timed_value:
    case kind::absent: {
      const auto number = r.get<std::uint64_t>();
      if (what == kind::timed_value) {
        const auto from = r.get<std::uint32_t>();
        const auto sent_at = r.get<double>();
        if (planning_.recording != nullptr)
          planning_.recording->arrived(from, message.size(), sent_at);
      }
      arrived a;
      a.has_value = what != kind::absent;
      if (a.has_value) a.datum = r.get<std::uint32_t>();
      a.first = message.size() - r.left();
      if (!a.has_value) get_state(r);
      a.message = std::move(message);
      if (const auto at = incoming_.awaited.extract(number)) arrives(*at.mapped(), std::move(a));
      else incoming_.early[number] = std::move(a);
      return false;
    }
    case kind::done: ++rounds_.children_done; break;
    case kind::go_on: ++rounds_.agreed, rounds_.was_cancelled = r.get<bool>(); break;
    case kind::differs: rounds_.differs = true; [[fallthrough]];
    case kind::abandoned: rounds_.last = std::min(rounds_.last, r.get<std::uint64_t>()); break;
    case kind::cancelled: break;
    case kind::opens:
      if (rank() == 0 && planning_.file.empty()) differ(1);
      break;
    case kind::made: {
      const auto round = r.get<std::uint64_t>(), made = r.get<std::uint64_t>();
      compare(round, made, r.get<std::uint64_t>());
      break;
    }
    case kind::replanning: receive_replanning(r); return true;
    case kind::plan:
    case kind::measured: {
      const auto contents = r.raw(r.left());
      if (what == kind::plan) planning_.told.emplace(contents.begin(), contents.end());
      else planning_.measured.emplace_back(contents.begin(), contents.end());
      return true;
    }
    default: r.fail("a kind of message within a graph");
  }
  get_state(r);
  return true;
}

// ---- a graph of a team

void graph_scope::distribute(team_node& of, const std::string& plan) {
  if (of.size == 1 && plan.empty()) return;
  // Graphs of two workers could be made in one order here and in another one there, and a graph of
  // a subtask on one node only.
  if (owner == nullptr || owner != of.began_on || is_in_subtask)
    throw std::logic_error(
        "cleave::team_graph: not made by the worker that began the team's task, or in a subtask");
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
  of.rank = nodes->place(name, uses, after, rank);
  of.number = made_;
  return of.rank == nodes->rank();
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

void graph_scope::give_home(any_datum& d) noexcept {
  if (nodes != nullptr) nodes->give_home(d.place);
}

void graph_scope::home(any_datum& d, unsigned rank) const {
  if (nodes == nullptr) return;
  nodes->check(rank);
  d.place.home = rank;
}

void graph_scope::bring_to(any_datum& d, unsigned rank) {
  if (nodes != nullptr) nodes->bring(d, rank);
}

void graph_scope::bring_to_all(any_datum& d) {
  for (unsigned rank = 0; nodes != nullptr && rank < nodes->size(); ++rank) nodes->bring(d, rank);
}

}  // namespace cleave::detail
