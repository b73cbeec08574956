#pragma once

#include "atomic.hpp"
#include "cosched/doorbell.hpp"
#include "explorer.hpp"

#include <array>
#include <string>
#include <utility>

/// Ranks around the real doorbells and the real waiter: they send each other messages and wait for
/// them. What is mirrored of rank.cpp and of MPI is short, and names what it mirrors.
namespace model::cosched {

/// What is broken on purpose.
enum class fault {
  none,
  no_fence,           // who rings does not fence
  announce_by_store,  // the announcement is not a full fence, but plain stores
  no_test_again,      // who has announced sleeps at once
  ring_without_wake,
  ring_keeps_ticket,     // who rings wakes, but leaves the ticket as it was
  sleep_unconditional,   // the sleep does not look whether the ticket has changed
  no_ring_after_call,    // a call that has sent something rings nobody
  no_ring_before_sleep,  // nor for what it has sent some looks later
  no_ring_in_wait,       // nor does a wait that has sent something
  board_left,  // a waiter that goes on forgets to leave the board: harmless, must be seen to be so
  board_not_set,  // an announcement that the board does not know of
  no_receiver,    // a send does not say to whom
  wrong_wait,     // who waits for an answer to what it sent says that it waits for a message
};
inline fault broken = fault::none;

struct platform {
  static constexpr unsigned most_workers = 4;
  template <class T>
  struct atomic : model::atomic<T> {
    using base = model::atomic<T>;
    using base::base;

    T fetch_or(T v, std::memory_order o = base::strongest) {
      if (broken == fault::board_not_set && sizeof(T) == 8) return 0;
      if (broken != fault::announce_by_store) return base::fetch_or(v, o);
      const T old = base::load();
      base::store(old | v, std::memory_order_release);
      return old;
    }
    T fetch_and(T v, std::memory_order o = base::strongest) {
      if (sizeof(T) == 8 && broken == fault::board_left) return 0;
      return base::fetch_and(v, o);
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order a, std::memory_order b) {
      const bool rings = v > expected;
      if (rings && broken == fault::ring_keeps_ticket) v = expected;
      return base::compare_exchange_strong(expected, v, a, b);
    }
  };

  static void fence() {
    if (broken == fault::no_fence) return;
    explorer::running()->point();
    explorer::running()->drain();
  }
  static void block(atomic<std::uint32_t>& word, std::uint32_t expected) {
    if (broken != fault::sleep_unconditional) return word.block(expected);
    explorer::running()->point();
    explorer::running()->drain();
    explorer::running()->sleep_on(word);
  }
  static void wake(atomic<std::uint32_t>& word) {
    if (broken != fault::ring_without_wake) word.wake();
  }
};

/// A place for one message: what is in MPI's shared memory. Sending is an ordinary store.
using message = model::atomic<std::uint32_t>;

template <unsigned Ranks>
struct job {
  job() : sleepers(Ranks) {}

  std::array<cleave::cosched::doorbell<platform>, Ranks> bells;
  cleave::cosched::board<platform> sleepers;
  std::array<message, 4> messages;
  std::uint64_t ended = 0;

  unsigned threads() const { return Ranks; }
  void check() const {}

  void send(message& m) { m.store(1, std::memory_order_release); }
  static constexpr unsigned all = Ranks, nobody = Ranks + 1;
  using waits_for = cleave::cosched::waits_for;

  void ring(unsigned me, unsigned to) {  // rank::ring, and rank::call::to
    cleave::cosched::ring_others<platform>(
        sleepers, me, [&](unsigned i) { bells[i].ring(to == all || to == i, [] {}); });
  }
  void end_call(unsigned me, unsigned to = all) {  // rank::end_call
    if (broken != fault::no_ring_after_call) ring(me, to);
  }
  void call_send(unsigned me, message& m, unsigned to = all) {  // MPI_Send of a small message
    send(m);
    end_call(me, broken == fault::no_receiver ? nobody : to);
  }
  /// MPI_Irecv, which answers a question that was there before.
  void call_post(unsigned me, message& asked, message& answer) {
    if (asked.load(std::memory_order_acquire) != 0) send(answer);
    end_call(me, nobody);
  }
  /// A wait for m. If `asked` is there meanwhile, MPI answers it by sending `answer`: at once, or
  /// in a later look, which does not count as one that has found something.
  [[gnu::noinline]] void wait(unsigned me, message& m, message* asked = nullptr,
                              message* answer = nullptr, bool later = false) {
    wait(me, m, all, waits_for::anything, asked, answer, later);
  }
  /// In a call to `to`, that waits for that.
  [[gnu::noinline]] void wait(unsigned me, message& m, unsigned to, waits_for what,
                              message* asked = nullptr, message* answer = nullptr,
                              bool later = false) {
    if (broken == fault::wrong_wait) what = waits_for::message;
    cleave::cosched::waiter<platform> w(bells[me], sleepers, me, later ? 2 : 1);
    using phase = typename cleave::cosched::waiter<platform>::phase;
    bool owes = false, owes_last = false, seen = asked == nullptr, answered = seen;
    auto before_sleep = [&] {
      const bool omitted =
          broken == fault::no_ring_before_sleep || broken == fault::no_ring_in_wait;
      if (std::exchange(owes_last, false) && !omitted) ring(me, to);
    };
    while (m.load(std::memory_order_acquire) == 0) {
      if (!seen && asked->load() != 0) {
        seen = owes = owes_last = true;
        if (!later) send(*answer), answered = true;
        w.found();  // rank::found_something
        continue;
      }
      if (owes && broken != fault::no_ring_in_wait) ring(me, to);  // rank::found_nothing
      owes = false;
      if (seen && !answered) send(*answer), answered = true;
      w.tested(true, what, before_sleep);
      if (broken == fault::no_test_again && w.now() == phase::announced)
        w.tested(true, what, before_sleep);
    }
    w.found();
    end_call(me, to);
  }

  std::string name(const void* at) const {
    auto in = [at](const auto& object) {
      const auto* begin = reinterpret_cast<const char*>(&object);
      return at >= begin && at < begin + sizeof object;
    };
    for (unsigned i = 0; i < Ranks; ++i)
      if (in(bells[i])) return "doorbell " + std::to_string(i);
    for (unsigned i = 0; i < messages.size(); ++i)
      if (in(messages[i])) return "message " + std::to_string(i);
    return "board";
  }
};

}  // namespace model::cosched
