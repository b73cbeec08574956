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
  // Of a rank that other nodes send to.
  only_own_socket,    // its sleep does not wait for MPI's descriptors
  only_descriptors,   // nor for the socket that it is rung by
  drained_after_all,  // the socket is emptied after the word was compared
  ring_to_word,       // who rings wakes it at the word, where it does not sleep
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

/// Where ranks sleep that are all on one node: on the words of their doorbells.
struct words {
  using word = platform::atomic<std::uint32_t>;
  bool look(unsigned) { return false; }
  bool received(unsigned) const { return false; }
  void wake(unsigned, word& w) { platform::wake(w); }
  bool block(unsigned, word& w, std::uint32_t ticket) {
    platform::block(w, ticket);
    return false;
  }
  std::string name(const void*) const { return {}; }
};

/// Where they sleep in a job on several nodes: network.cpp. What is ready, of the sockets of each:
/// the lowest bit is for the one that it is rung by, the other one for MPI's. The kernel changes
/// and wakes in one step, and so does poll() compare and sleep.
struct sockets {
  using word = platform::atomic<std::uint32_t>;
  static constexpr std::uint32_t ring = 1, data = 2;
  static constexpr unsigned most = 3;

  std::array<model::atomic<std::uint32_t>, most> ready;
  std::array<std::uint64_t, most> got{};  // by MPI, each its owner's

  void deliver(unsigned to, std::uint32_t what = data) {
    ready[to].fetch_or(what);
    ready[to].wake();
  }
  /// MPI takes what is there. Returns whether there was something.
  bool look(unsigned me) {
    if ((ready[me].load() & data) == 0) return false;
    ready[me].fetch_and(ring);
    return got[me] = 1, true;
  }
  bool received(unsigned me) const { return got[me] != 0; }
  void wake(unsigned i, word& w) {
    if (broken == fault::ring_to_word) platform::wake(w);
    else deliver(i, ring);
  }
  bool block(unsigned me, word& w, std::uint32_t ticket) {
    const asleep sleep{*this, me};
    return cleave::cosched::sleep_in_poll(w, ticket, sleep);
  }

  struct asleep {
    sockets& all;
    unsigned me;

    void drain() const {
      if (broken != fault::drained_after_all) all.ready[me].fetch_and(data);
    }
    cleave::cosched::polled poll() const {
      using cleave::cosched::polled;
      if (broken == fault::drained_after_all) all.ready[me].fetch_and(data);
      const std::uint32_t ignored = broken == fault::only_own_socket    ? data
                                    : broken == fault::only_descriptors ? ring
                                                                        : 0;
      std::uint32_t now = 0;
      while (((now = all.ready[me].load()) & ~ignored) == 0) all.ready[me].block(now);
      return (now & data) != 0 ? polled::event : polled::rung;
    }
  };
  std::string name(const void* at) const {
    for (unsigned i = 0; i < most; ++i)
      if (at == &ready[i]) return "sockets " + std::to_string(i);
    return {};
  }
};

template <unsigned Ranks, class Beds = words>
struct job {
  job() : sleepers(Ranks) {}

  std::array<cleave::cosched::doorbell<platform>, Ranks> bells;
  cleave::cosched::board<platform> sleepers;
  std::array<message, 4> messages;
  [[no_unique_address]] Beds beds;

  unsigned threads() const { return Ranks; }
  void check() const {}

  void send(message& m) { m.store(1, std::memory_order_release); }
  static constexpr unsigned all = Ranks, nobody = Ranks + 1;
  using waits_for = cleave::cosched::waits_for;

  void ring(unsigned me, unsigned to) {  // rank::ring, and rank::call::to
    cleave::cosched::ring_others<platform>(sleepers, me, [&](unsigned i) {
      bells[i].ring(to == all || to == i, [&](auto& word) { beds.wake(i, word); });
    });
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
    wait(me, &m, all, waits_for::anything, asked, answer, later);
  }
  void wait(unsigned me, message& m, unsigned to, waits_for what, message* asked = nullptr,
            message* answer = nullptr) {
    wait(me, &m, to, what, asked, answer);
  }
  /// For what another node sends it.
  void wait_for_node(unsigned me, waits_for what = waits_for::anything) {
    wait(me, nullptr, what == waits_for::message ? nobody : all, what);
  }
  /// In a call to `to`, that waits for m, or for another node.
  [[gnu::noinline]] void wait(unsigned me, message* m, unsigned to, waits_for what,
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
    const auto block = [&](auto& word, std::uint32_t ticket) {
      return beds.block(me, word, ticket);
    };
    for (;;) {
      const bool fresh = beds.look(me);
      if (m == nullptr ? beds.received(me) : m->load(std::memory_order_acquire) != 0) break;
      if (fresh) {
        w.found();
        continue;
      }
      if (!seen && asked->load() != 0) {
        seen = owes = owes_last = true;
        if (!later) send(*answer), answered = true;
        w.found();  // rank::found_something
        continue;
      }
      if (owes && broken != fault::no_ring_in_wait) ring(me, to);  // rank::found_nothing
      owes = false;
      if (seen && !answered) send(*answer), answered = true;
      w.tested(true, what, before_sleep, block);
      if (broken == fault::no_test_again && w.now() == phase::announced)
        w.tested(true, what, before_sleep, block);
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
    const std::string bed = beds.name(at);
    return bed.empty() ? "board" : bed;
  }
};

}  // namespace model::cosched
