#pragma once

#include "atomic.hpp"
#include "explorer.hpp"
#include "requests/protocol.hpp"

#include <array>
#include <cstdint>

/// What the real protocol and deque run on in the model, and what is broken on purpose.
namespace model {

using cleave::detail::asked;
using cleave::detail::attention;
using cleave::detail::is_asking;
using cleave::detail::news;
using cleave::detail::parked;
using cleave::detail::request;
using cleave::detail::scope;

/// What is broken on purpose.
enum class fault {
  none,
  // One operation done in another way.
  sleep_by_store,    // `sleeping` is stored instead of compared and swapped in
  collect_by_load,   // collect loads and stores instead of exchanging
  withdraw_by_load,  // withdraw loads and stores instead of comparing and swapping
  claim_by_load,     // so does claim
  reclaim_by_load,   // so does reclaim
  root_released,     // roots_waiting is a release store instead of a seq_cst one
  hand_released,     // a request is answered by a release store, and not by an exchange
  ended_by_store,    // a task is ended by load and store
  awaited_by_store,  // its owner says by load and store that it waits
  // One operation left out.
  ring_without_wake,
  hand_without_ring,
  sleep_unlooked,         // who says that it sleeps does not look again for what it waits for
  no_look_at_askers,      // who begins to compute does not look at the board
  no_ring_before_sleep,   // an asker blocks without having asked all that compute
  no_reminder,            // who gave one part forgets the other askers
  not_parked,             // who had nothing to give forgets the askers
  no_reopen,              // a claim is not given back when the split fails
  not_set_again,          // it is, but not on the board
  reopen_without_ring,    // the asker is not told that its claim was given back
  reopen_without_parked,  // nor does the victim remember the asker
  withdraw_once,          // an asker whose request was reopened cannot withdraw it
  root_not_rung,          // announce wakes nobody
  insist_keeps_cutoff,    // who insists does not move the cutoff out of the way
  cutoff_kept_unseen,     // who sets a cutoff does not look for signals afterwards
  crowd_not_called,       // who leaves the board tells nobody who waits for room
  crowd_not_chained,      // who was called tells nobody else that there is more room
  no_press_after_nap,     // an asker that has been patient blocks without having insisted
  // Of the deque and the groups.
  take_released,      // take() makes its claim by a release store
  push_released,      // so does push()
  top_by_load,        // a task is taken at the top by load and store
  counted_off_first,  // a group's task is counted off before it has run
  group_not_rung,     // the last one tells nobody
  own_count_kept,     // the owner waits without having told what it counts for itself
  // Of a cancellation's ring.
  ring_taken_by_store,  // by a store instead of an exchange
  ring_taken_first,     // the word before the cutoff
  look_before_taking,   // at the scope, and then the ring is taken
  own_word_first,       // a thread's own cancellation leaves the word before the cutoff
  // Of a mailbox whose owner changes.
  left_at_once,         // the owner leaves while somebody rings
  not_counted,          // who rings does not say so
  left_unfenced,        // no read-modify-write between the word and the count
  taken_over_unfenced,  // nor between the word and the askers
  // Of a seat.
  left_unlooked,  // who leaves it does not look for work
  work_released,  // work is made visible by a release store
};
inline fault broken = fault::none;

/// The real mailboxes, boards and sequences run on this, and it breaks them: it does an operation
/// in another way or not at all. Which one of a sequence an operation is, tell the two that the
/// same thread did before; one left out is not among them.
struct platform {
  static constexpr unsigned most_workers = 4, most_slots = 1;
  struct bell {};
  using depth = unread;
  template <class T>
  using pointer = owned_pointer<T>;
  /// Who waits for it to be 0 sleeps: a loop of loads that need not be told apart.
  struct count : model::atomic<std::uint32_t> {
    using base = model::atomic<std::uint32_t>;
    using base::base;
    std::uint32_t load(std::memory_order o) const {
      return broken == fault::left_at_once ? 0 : base::load(o);
    }
    void fetch_add(std::uint32_t n, std::memory_order o) {
      if (broken != fault::not_counted) base::fetch_add(n, o);
    }
    void fetch_sub(std::uint32_t n, std::memory_order o) {
      if (broken == fault::not_counted) return;
      base::fetch_sub(n, o);
      base::wake();
    }
  };
  static void fence_after_update() {}  // each read-modify-write is one, as on x86
  static void await_change(count& word, std::uint32_t from) { word.block(from); }

  template <class T>
  struct atomic : model::atomic<T> {
    using base = model::atomic<T>;
    using base::base;

    T load(std::memory_order o = base::strongest) const {
      const bool slept = broken == fault::sleep_unlooked && !is_word && before(1) == fell_asleep;
      did(is_word ? read_word : in_crowd(this) ? read_crowd : read);
      if (slept) return leave_out(0), static_cast<T>(cleave::detail::claimed);
      return base::load(o);
    }
    void store(T v, std::memory_order o = base::strongest) {
      const bool reopens = !is_word && o == std::memory_order_release && is_asking(v);
      if (reopens && broken == fault::no_reopen) return leave_out(v);
      did(reopens ? reopened : other);
      base::store(v, o);
    }
    T exchange(T v, std::memory_order o) {
      const bool answers = !is_word && v != cleave::detail::resting;
      did(answers ? handed : other);
      if ((answers && broken == fault::hand_released) ||
          (is_word && v == ended && broken == fault::ended_by_store)) {
        const T old = base::load();
        base::store(v, std::memory_order_release);
        return old;
      }
      if (is_word && broken == fault::ring_taken_by_store)
        return base::store(v, std::memory_order_relaxed), 0;
      return broken == fault::collect_by_load ? by_load(v) : base::exchange(v, o);
    }
    T fetch_or(T v, std::memory_order o) {
      if (is_word ? omits_ring(v) : omits_set()) return leave_out(v), 0;
      did(is_word ? rang : other);
      return base::fetch_or(v, o);
    }
    T fetch_and(T v, std::memory_order o) {
      did(is_word ? other : cleared);
      return base::fetch_and(v, o);
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order a, std::memory_order b) {
      using namespace cleave::detail;
      const bool withdraws = !is_word && v == resting;
      const bool again = withdraws && before(1) == read && before(2) == read;
      if (again && broken == fault::withdraw_once) return leave_out(v), expected = claimed, false;
      did(is_word && (v & sleeping) != 0 ? fell_asleep : other);
      const bool plain = is_word ? broken == fault::sleep_by_store ||
                                       (broken == fault::awaited_by_store && v == awaited)
                                 : (broken == fault::withdraw_by_load && withdraws) ||
                                       (broken == fault::claim_by_load && v == claimed) ||
                                       (broken == fault::reclaim_by_load && v == reclaimed);
      if (!plain) return base::compare_exchange_strong(expected, v, a, b);
      if ((!is_word || v == awaited) && base::load() != expected) return false;
      base::store(v);
      return true;
    }

  private:
    static constexpr bool is_word = sizeof(T) == 4;  // or of a task; else a request, or a board
    static constexpr T awaited =
        static_cast<T>(cleave::detail::completion<std::atomic<T>>::awaited);
    static constexpr T ended = static_cast<T>(cleave::detail::completion<std::atomic<T>>::ended);

    static bool omits_ring(T bits) {
      switch (broken) {
        case fault::hand_without_ring:  // hand, asleep?
          return bits == news && before(2) == handed && before(1) == read_word;
        case fault::reopen_without_ring: return bits == news && before(1) == reopened;
        case fault::reopen_without_parked: return bits == parked && before(1) == rang;
        case fault::not_parked: return bits == parked && before(1) == read;
        case fault::no_reminder:  // hand, asleep?, perhaps ring, any askers?
          return bits == asked && (before(2) == rang || before(2) == read_word) &&
                 before(1) == read;
        case fault::no_look_at_askers:  // set, any askers?
          return bits == asked && before(2) == other && before(1) == read;
        case fault::no_ring_before_sleep:  // no signals yet, who computes?
          return bits == asked && before(2) == read_word && before(1) == read;
        case fault::crowd_not_called:  // off the board, anybody in the crowd?
          return bits == news && before(1) == read_crowd && before(2) == cleared;
        case fault::crowd_not_chained:  // how many ask, anybody in the crowd?
          return bits == news && before(1) == read_crowd && before(2) == read;
        case fault::no_press_after_nap:  // no signals since the nap, who computes?
          return bits == asked && before(1) == read && before(2) == read_word && napped();
        case fault::root_not_rung: return bits == news && before(1) == read;
        default: return false;
      }
    }
    static bool omits_set() { return broken == fault::not_set_again && before(1) == cleared; }
    void leave_out(T v) const { explorer::running()->tell("misses", *this, v, v); }
    T by_load(T v) {
      const T old = base::load();
      base::store(v);
      return old;
    }
  };
  /// Whether the cutoff is out of the way, which is all that the protocol is about.
  struct cutoff : model::atomic<std::uintptr_t> {
    using base = model::atomic<std::uintptr_t>;
    void store(std::uintptr_t address, std::memory_order o) {
      const bool rings = address == 0 && o == std::memory_order_seq_cst;
      if (broken == fault::insist_keeps_cutoff && rings) return;
      if (broken == fault::no_press_after_nap && rings && napped()) return;
      if (broken == fault::cutoff_kept_unseen && address == 0 && !rings && before(1) == read_word)
        return;
      base::store(address == 0, o);
    }
  };
  /// A nap may end by itself at any time, so it may end at once.
  static void block(atomic<std::uint32_t>& word, std::uint32_t expected, bool nap) {
    if (nap) did_nap();
    else word.block(expected);
  }
  static void wake(atomic<std::uint32_t>& word, bell) {
    if (broken != fault::ring_without_wake) word.wake();
  }

private:
  enum kind : std::uint64_t {
    nothing,
    read,
    read_word,
    read_crowd,
    handed,
    reopened,
    rang,
    cleared,
    fell_asleep,
    other
  };
  static constexpr std::uint64_t nap_bit = 1 << 16;

  /// The last operation but k - 1 of this thread.
  static std::uint64_t before(unsigned k) {
    return explorer::running()->note() >> 8 * (k - 1) & 0xff;
  }
  static void did(kind k) {  // without a fault nothing is noted: that would only make more states
    if (broken == fault::none || explorer::running() == nullptr) return;
    std::uint64_t& note = explorer::running()->note();
    if (k == read_crowd && before(1) == read_crowd) return;  // its words are read one by one
    note = (note & nap_bit) | ((note << 8 | k) & 0xffff);
  }
  static void did_nap() {
    if (broken == fault::no_press_after_nap) explorer::running()->note() |= nap_bit;
  }
  static bool napped() { return (explorer::running()->note() & nap_bit) != 0; }
  static bool in_crowd(const void* at) {
    return at >= crowd && at < static_cast<const char*>(crowd) + 16;  // a size and a word
  }

public:
  /// Where in the world the crowd's board is.
  static inline const void* crowd = nullptr;
};

}  // namespace model
