#pragma once

#include "requests/protocol.hpp"

/// How one thread without a stack asks a pool's workers in the name of other nodes, and feeds those
/// that are hungry. No step blocks. Templates, so that tests/model runs them.
namespace cleave::detail {

/// Invariant: a slot is asking from ask() until withdraw() or collect() ends that; its bit is on
/// the board while nobody has taken it on. Belongs to one thread; workers claim, hand and reclaim.
template <class Platform>
class slots_of_other_nodes {
public:
  slots_of_other_nodes(exchange<Platform>& of, mailbox<Platform>& own) noexcept
      : of_(of), own_(own) {}

  /// Asks for a part of `within` (null: of anything) for slot k: all that compute.
  void ask(unsigned k, const scope* within) noexcept {
    box(k).post(within);
    of_.slots.set(k);
    press(false);
  }
  /// Asks all that compute once more.
  void press(bool insist) noexcept {
    of_.computing.visit(0, [&](unsigned i) {
      insist ? of_.box(i).insist(asked) : of_.box(i).ring(asked);
      return false;
    });
  }
  /// Takes a request back; false if a worker has taken it on, or answered it.
  bool withdraw(unsigned k, const scope* within) noexcept {
    if (!box(k).withdraw(request_for(within))) return false;
    of_.slots.clear(k);  // a victim that reopened it has set it again
    return true;
  }
  bool has_answer(unsigned k) const noexcept { return box(k).has_answer(); }
  /// Ends an answered request. Returns the task, or 0 if its owner has taken it back.
  request collect(unsigned k) noexcept {
    of_.slots.clear(k);  // a worker may have cleared it before ask() had set it
    return box(k).collect();
  }

  /// Calls f(worker, its request) for the workers that found nothing here.
  template <class F>
  void each_hungry(F f) const {
    of_.hungry.visit(0, [&](unsigned i) {
      if (const request seen = of_.box(i).posted(); is_asking(seen)) f(i, seen);
      return false;
    });
  }
  /// Hands a task to a worker that asks; false if it does not any more.
  bool feed(unsigned worker, request seen, request task) noexcept {
    auto& asker = of_.box(worker);
    if (!is_asking(seen) || !asker.claim(seen)) return false;
    of_.askers.clear(worker);
    asker.hand(task);
    return true;
  }

  /// Whether there is nothing to see: then whoever has something rings the bell.
  bool fall_asleep() noexcept { return own_.fall_asleep(); }
  /// Returns the signals that came, and takes them.
  std::uint32_t wake_up() noexcept {
    own_.wake_up();
    return own_.take_signals();
  }

private:
  mailbox<Platform>& box(unsigned k) const noexcept {
    return of_.box(exchange<Platform>::first_slot + k);
  }

  exchange<Platform>& of_;
  mailbox<Platform>& own_;
};

}  // namespace cleave::detail
