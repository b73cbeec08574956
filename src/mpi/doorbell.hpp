#pragma once

#include "machine/shared_memory.hpp"
#include "mpi/ring_socket.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cleave::net::mpi {

/// What an idle rank sleeps on: a word in memory that it shares with the ranks of its host, if
/// those are all there are, and its socket otherwise. A ringer of the same host looks which.
///
///             begins to sleep              rung, or the time is up
///     awake ------------------> on_word --------------------------> awake
///           ------------------> on_socket ------------------------>
///                   watch                  end_watch
///     on_word ----------------> watched ------------> on_word       awake, if the time is up
///
/// No ring is lost: the sleeper says where it sleeps and then compares `rings` with what it was
/// before it last looked for messages; a ringer counts `rings` up and then looks where it sleeps.
/// All four are sequentially consistent, so one of them sees the other. It blocks on the word that
/// says where it sleeps: a ringer that is late may end its next sleep for nothing, and then that
/// word has changed. Rings over UDP stay in the socket until they are read. While it is watched,
/// another thread looks at `rings`: that one says that it does not any more, and then compares once
/// again, as a sleeper does.
///
/// With every message its sender also says how many it has begun to send so far: a rank that was
/// woken too early knows then that something is on its way.
class doorbell {
public:
  using ticket = std::uint32_t;

  /// `neighbours`: the ranks of this host that share `memory`, in order, with this one; `memory` is
  /// empty if there are none. `socket`: nullptr if all ranks are neighbours.
  doorbell(int self, std::vector<int> neighbours, machine::shared_memory memory,
           std::unique_ptr<ring_socket> socket, int size);

  static std::size_t memory_bytes(std::size_t neighbours) noexcept;

  /// Counts that many more messages on their way to the peer, which learns this when it is rung, or
  /// when it looks next.
  void announce(int peer, std::uint32_t messages) noexcept;
  void ring(int peer) noexcept;
  /// Ends this rank's sleep, or its next one. Any thread may call it.
  void ring_self() noexcept;

  bool is_neighbour(int peer) const noexcept { return place(peer) >= 0; }
  bool uses_socket() const noexcept { return socket_ != nullptr; }
  /// How many messages the peer has announced to this rank, modulo 2^32.
  std::uint32_t announced_by(int peer) const noexcept;

  /// Takes a ticket, which must be done before looking for messages.
  ticket look() noexcept;
  /// Blocks until rung since the ticket was taken. False if the time was up.
  bool sleep(ticket since, std::chrono::nanoseconds at_most) noexcept;

  // The functions that follow are called by another thread than the sleeper, one at a time.

  /// A thread that sleeps on the word is not woken from now on. When it may have gone to sleep
  /// again, this is called again, and holds for that sleep too.
  void watch() noexcept;
  ticket rings() const noexcept;
  /// Ends the watch: a ring since the ticket was taken wakes the sleeper, and so do later rings.
  void end_watch(ticket since) noexcept;

private:
  enum sleeping : std::uint32_t { awake, on_word, watched, on_socket };
  using counter = std::atomic<std::uint32_t>;
  struct alignas(64) slot {
    counter rings{0};
    std::atomic<std::uint32_t> where{awake};  // a value of `sleeping`
  };
  // In shared memory the messages that each neighbour has announced to a rank are counted right
  // after its slot's members: who announces rings next, and finds both in one line of its cache.
  static constexpr std::size_t counts_at = sizeof(counter) + sizeof(std::atomic<std::uint32_t>);
  static std::size_t stride(std::size_t neighbours) noexcept;  // bytes from a slot to the next one

  int place(int peer) const noexcept { return places_[static_cast<std::size_t>(peer)]; }
  std::byte* at(int peer) const noexcept;
  slot& slot_of(int peer) const noexcept { return *reinterpret_cast<slot*>(at(peer)); }
  counter& announced(int from, int to) const noexcept;
  void wake(slot& s, int peer) noexcept;
  bool read_socket() noexcept;

  const int self_;
  const machine::shared_memory memory_;
  const std::unique_ptr<ring_socket> socket_;
  const std::size_t stride_;
  slot alone_;               // this rank's slot if there is no shared memory
  std::byte* const slots_;   // those of the neighbours
  std::vector<int> places_;  // the place of each rank among the neighbours, or -1
  // How many messages this rank has announced to each rank.
  std::vector<std::uint32_t> to_;
  // How many messages each rank elsewhere has announced to this one.
  std::vector<std::uint32_t> from_;
};

}  // namespace cleave::net::mpi
