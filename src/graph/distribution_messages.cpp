#include <cleave/detail/graph/distribution.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include <algorithm>
#include <utility>

#include "graph/lending.hpp"
#include "graph/recorder.hpp"
#include "graph/replay.hpp"
#include "graph/transfers.hpp"
#include "travel/exceptions.hpp"

// What the nodes of a team's graph say to each other.
namespace cleave::detail {

// ---- what comes from another node

distribution::lane::place& distribution::lane::at(std::uint64_t number) {
  while (number - first_ >= ring_.size()) {
    constexpr std::size_t least = 16;
    std::vector<place> larger(std::max(least, 2 * ring_.size()));
    for (std::uint64_t k = first_; k != first_ + ring_.size(); ++k)
      larger[k & (larger.size() - 1)] = std::move(ring_[k & (ring_.size() - 1)]);
    ring_ = std::move(larger);
  }
  return ring_[number & (ring_.size() - 1)];
}

/// Forgets the first ones that are made here and have arrived.
void distribution::lane::forget_done() noexcept {
  const auto is_done = [this] {
    const place& p = ring_[first_ & (ring_.size() - 1)];
    return p.awaits == nullptr && !p.early;
  };
  while (first_ != made_ && is_done()) ++first_;
}

std::optional<distribution::arrived> distribution::lane::make(receive_values& r) {
  place& next = at(made_);
  ++made_;
  if (!next.early) next.awaits = &r;
  auto early = std::exchange(next.early, {});
  forget_done();
  return early;
}

distribution::receive_values* distribution::lane::arrive(std::uint64_t number, arrived& a) {
  if (number < first_) return nullptr;  // it has come
  place& its = at(number);
  if (number >= made_) return its.early = std::move(a), nullptr;
  receive_values* const awaits = std::exchange(its.awaits, nullptr);
  forget_done();
  return awaits;
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
  if (is_cancelled && !between_.released) {
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

/// A node that waits for values always gets something: if they are not to be had, why.
std::size_t distribution::send_values(const transferred& data, const transfer_of& of) noexcept {
  if (!graph_.error.is_before(of.number)) {
    try {
      const std::size_t size = put_values(data, of);
      unflushed_.store(true, std::memory_order_release);  // partner: flush
      return size;
    } catch (...) { graph_.keep(of.number, std::current_exception()); }
  }
  if (of.within != nullptr) of.within->send();  // the values of earlier rounds come first
  auto message = begin(kind::absent);
  byte_writer w(message);
  w.put<std::uint32_t>(rank()), w.put(of.place);
  tell(of.to, std::move(message));
  return 0;
}

/// Returns the length of the message, or 0 if others go with it.
std::size_t distribution::put_values(const transferred& data, const transfer_of& of) {
  if (of.within != nullptr) return of.within->add(of.place, data, of.group), 0;
  auto message = begin(planning_.recording != nullptr ? kind::timed_value : kind::value);
  byte_writer w(message);
  w.put<std::uint32_t>(rank()), w.put(of.place);
  if (planning_.recording != nullptr) w.put(recorder::now());
  data.put(w);
  node_.send(of.to, message);
  return message.size();
}

void distribution::await_arrival(subtask& s) {
  auto& r = static_cast<receive_values&>(s);
  const std::lock_guard lock(node_.mutex);
  std::optional<arrived> early;
  lane& from = between_.from[r.from];
  if (!between_.released) {
    early = from.make(r);
  } else {  // it counts all the same, as the other node counts it
    from.skip(1, [](auto, auto&) {});
    early = arrived{};
  }
  graph_.pending.begin();
  // The maker of the subtask still counts: the subtask cannot run yet.
  if (early) arrives(r, std::move(*early));
}

/// Called with the team's mutex. Afterwards the subtask may be gone.
void distribution::arrives(receive_values& r, arrived a) noexcept {
  r.arrival = std::move(a);
  // acq_rel: it, and what those before it did. Partner: the others that count off.
  if (r.in_graph().unmet.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(r);
}

/// Keeps for a transfer what put(place) puts there. Called with the team's mutex.
template <class Put>
void distribution::deliver(unsigned from, std::uint64_t place, Put put) {
  if (auto* const rounds = between_.rounds; rounds != nullptr && rounds->has(from, place)) {
    put(rounds->free_place(from, place));
    return rounds->has_come();
  }
  arrived a;
  put(a);
  if (auto* const awaits = between_.from[from].arrive(place, a)) arrives(*awaits, std::move(a));
}

/// Values of rounds, which need not be rounds of repeat() here. Called with the team's mutex.
void distribution::take_values(byte_reader& r, std::vector<std::byte>& message) {
  const auto from = r.get<std::uint32_t>();
  if (from >= size()) r.fail("a member");
  while (r.left() != 0 && !between_.released) {
    const auto place = r.get<std::uint64_t>();
    byte_reader value = r.get_block();
    deliver(from, place, [&](arrived& its) {
      its.has_value = true, its.datum = value.get<std::uint32_t>();
      const std::size_t length = value.left();
      constexpr std::size_t worth_no_copy = 4096;
      if (r.left() == 0 && length >= worth_no_copy) {
        its.first = message.size() - length;
        its.message.swap(message);
      } else {
        const auto bytes = value.raw(length);
        its.first = 0;
        its.message.assign(bytes.begin(), bytes.end());
      }
    });
  }
  if (between_.rounds != nullptr) between_.rounds->make_ready();
}

bool distribution::receive(std::vector<std::byte> message, std::size_t first) {
  byte_reader r(std::span<const std::byte>(message).subspan(first));
  const auto what = static_cast<kind>(r.get<std::uint8_t>());
  switch (what) {
    case kind::value:
    case kind::timed_value:
    case kind::absent: {
      const auto from = r.get<std::uint32_t>();
      const auto place = r.get<std::uint64_t>();
      if (from >= size()) r.fail("a member");
      if (what == kind::timed_value) {
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
      if (between_.released) return false;
      deliver(from, place, [&](arrived& its) { its = std::move(a); });
      if (between_.rounds != nullptr) between_.rounds->make_ready();
      return false;
    }
    case kind::values: take_values(r, message); return false;
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
    case kind::transfers: {
      const auto round = r.get<std::uint64_t>();
      const auto from = r.get<std::uint32_t>();
      const auto sent = r.get<std::uint64_t>();
      mine_.told.push_back({round, from, sent, r.get<std::uint64_t>()});
      compare_transfers();
      return true;
    }
    case kind::differing:
      if (rank() == 0) differ(r.get<std::uint64_t>());
      return true;
    case kind::replanning: receive_replanning(r); return true;
    case kind::plan:
    case kind::measured: {
      const auto contents = r.raw(r.left());
      if (what == kind::plan) planning_.told.emplace(contents.begin(), contents.end());
      else planning_.measured.emplace_back(contents.begin(), contents.end());
      return true;
    }
    case kind::lending:
      first = message.size() - r.left();
      return graph_.lends != nullptr && graph_.lends->receive(std::move(message), first);
    default: r.fail("a kind of message within a graph");
  }
  get_state(r);
  return true;
}

}  // namespace cleave::detail
