#pragma once

#include "machine/bit_board.hpp"

#include <atomic>
#include <cassert>
#include <cstdint>

/// How a rank that waits inside MPI goes to sleep, and how the others wake it. All of the
/// protocol's shared state and every transition of it is in this file; README.md argues why no
/// wake-up is lost, and tests/model runs this code through every interleaving.
///
/// The invariant: whoever sleeps has announced it, and has tested once more after that. Whoever
/// may have made progress for others does so, fences, and then rings whom it finds announced.
namespace cleave::cosched {

/// What a rank waits for. `message`: only for messages that others send it, and nobody waits for
/// its help; so nothing else that others do can end its wait. `anything`: all other waits.
enum class waits_for : unsigned { message, anything };

/// One rank's doorbell: a ticket that changes when it is rung. Its owner announces and sleeps, the
/// others ring. In one word: the lowest bit says `announced`, the next one `for a message`, the
/// others count the rings.
template <class Platform>
class doorbell {
public:
  using ticket = std::uint32_t;

  // Only the owner calls announce(), sleep() and withdraw().

  /// The store is seq_cst: it comes before the owner's last test, and is the partner of the
  /// ringer's fence. The same store says what the owner waits for, so whoever sees the announcement
  /// sees that too.
  ticket announce(waits_for w = waits_for::anything) noexcept {
    const ticket bits = w == waits_for::message ? announced | for_message : announced;
    return word_.fetch_or(bits, std::memory_order_seq_cst) | bits;
  }
  /// Blocks as block(word, t) does: until the ticket has changed, or something else has happened;
  /// returns what block() returns.
  template <class Block>
  auto sleep(ticket t, Block block) noexcept {
    return block(word_, t);
  }
  /// Takes an announcement back. False if the owner was rung meanwhile.
  bool withdraw(ticket t) noexcept {
    return word_.compare_exchange_strong(t, t & ~bits_of_wait, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // Every rank may call ring().

  /// Called after a fence. Wakes the owner if it has announced, and if what was done can be what it
  /// waits for: `sent` says that a message may have been sent to it. Wakes by wake(word), and
  /// returns whether this call did.
  template <class Wake>
  bool ring(bool sent, Wake wake) noexcept {
    ticket t = word_.load(std::memory_order_relaxed);
    if ((t & announced) == 0 || (!sent && (t & for_message) != 0)) return false;
    // Fails if another rang first, or the owner went on: either way it will test once more.
    if (!word_.compare_exchange_strong(t, (t & ~bits_of_wait) + one_ring, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
      return false;
    wake(word_);
    return true;
  }

private:
  static constexpr ticket announced = 1, for_message = 2, one_ring = 4;
  static constexpr ticket bits_of_wait = announced | for_message;
  typename Platform::template atomic<ticket> word_{0};
};

/// The board names the ranks that may have announced, so that a ringer need not look at all
/// doorbells.
template <class Platform>
using board = machine::bit_board<Platform>;

/// Rings all ranks that may have announced, except `me`, by ring(i). Called after whatever may be
/// progress for them.
template <class Platform, class Ring>
void ring_others(const board<Platform>& sleepers, unsigned me, Ring ring) {
  Platform::fence();  // partner of announce(): one of the two sees the other
  sleepers.visit(0, [&](unsigned i) {
    if (i != me) ring(i);
    return false;
  });
}

/// How a sleep in poll() ended.
enum class polled { rung, event, late };

/// How a rank sleeps to which other nodes send, too: in poll(), on the descriptors that MPI asks
/// about itself, and on a socket that the ranks of its own node send to after they have rung. What
/// lies in that socket may be older than the announcement; only the word tells who was rung.
/// `Sockets`: drain() empties it; poll() blocks until one of all these is ready, or for as long as
/// it may. Returns whether something happened that is no ring.
template <class Word, class Ticket, class Sockets>
bool sleep_in_poll(const Word& word, Ticket t, Sockets& sockets) {
  for (;;) {
    sockets.drain();  // before the word is read: poll() finds a ring that comes after that
    if (word.load(std::memory_order_acquire) != t) return false;  // partner: ring
    const polled by = sockets.poll();
    if (by != polled::rung) return by == polled::event;
  }
}

/// A rank's wait, told step by step: it does not loop, because the loop is MPI's own.
///
///                 enough spun                  nothing found in so many tests
///     spinning ---------------> announced ----------------------------------> asleep
///         ^                         | progress, or the end of the wait          |
///         +-------------------------+-------------------------------------------+ rung, or long
///         enough                                                                  or an event
template <class Platform>
class waiter {
public:
  enum class phase : unsigned { spinning, announced, asleep };
  /// How a wait was woken: `event`: by something that is no ring; `late`: the time that a sleep may
  /// take was over.
  enum class woken { no, rung, event, late };

  waiter(doorbell<Platform>& own, board<Platform>& sleepers, unsigned me, unsigned tests) noexcept
      : bell_(&own), sleepers_(&sleepers), me_(me), tests_(tests) {}

  phase now() const noexcept { return phase_; }

  /// One test of everything that the wait may end by has found nothing. Sleeps if it was the last
  /// one, by block(word, ticket), after before_sleep(), which rings the others for all that was
  /// done since. `block` returns whether something has happened that is no ring.
  template <class F, class Block>
  woken tested(bool spun_enough, waits_for what, F before_sleep, Block block) {
    if (phase_ == phase::spinning) {
      if (spun_enough) announce(what);
      return woken::no;
    }
    assert(phase_ == phase::announced);
    if (--left_ != 0) return woken::no;
    before_sleep();
    phase_ = phase::asleep;
    const bool event = bell_->sleep(ticket_, block);
    return !stop() ? woken::rung : event ? woken::event : woken::late;
  }
  /// Something was found, or the wait is over. Returns whether it was rung meanwhile.
  bool found() {
    const bool rung = phase_ == phase::announced && !stop();
    assert(phase_ == phase::spinning);
    return rung;
  }

private:
  void announce(waits_for what) {
    ticket_ = bell_->announce(what);
    sleepers_->set(me_);
    left_ = tests_;
    phase_ = phase::announced;
  }
  /// Ends the announcement; returns whether nobody had rung.
  bool stop() {
    phase_ = phase::spinning;
    sleepers_->clear(me_);
    return bell_->withdraw(ticket_);
  }

  doorbell<Platform>* bell_;
  board<Platform>* sleepers_;
  unsigned me_;
  unsigned tests_;  // how many it takes to look at everything once
  unsigned left_ = 0;
  typename doorbell<Platform>::ticket ticket_ = 0;
  phase phase_ = phase::spinning;
};

}  // namespace cleave::cosched
