#include "mpi/doorbell.hpp"

#include "machine/futex.hpp"

#include <cassert>
#include <new>
#include <utility>

namespace cleave::net::mpi {

namespace {
std::size_t index(int n) noexcept { return static_cast<std::size_t>(n); }
}  // namespace

std::size_t doorbell::memory_bytes(std::size_t neighbours) noexcept {
  return neighbours * stride(neighbours);
}

std::size_t doorbell::stride(std::size_t neighbours) noexcept {
  return (counts_at + neighbours * sizeof(counter) + alignof(slot) - 1) / alignof(slot) *
         alignof(slot);
}

doorbell::doorbell(int self, std::vector<int> neighbours, machine::shared_memory memory,
                   std::unique_ptr<ring_socket> socket, int size)
    : self_(self),
      memory_(std::move(memory)),
      socket_(std::move(socket)),
      stride_(stride(neighbours.size())),
      slots_(memory_ ? memory_.data() : reinterpret_cast<std::byte*>(&alone_)),
      places_(index(size), -1),
      to_(index(size)),
      from_(index(size)) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  places_[index(self)] = 0;
  if (!memory_) return;
  // Zero is what the words begin with, so no rank need be the first.
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    places_[index(neighbours[i])] = static_cast<int>(i);
}

std::byte* doorbell::at(int peer) const noexcept { return slots_ + index(place(peer)) * stride_; }

doorbell::counter& doorbell::announced(int from, int to) const noexcept {
  return reinterpret_cast<counter*>(at(to) + counts_at)[place(from)];
}

/// Rings a slot; only one of several ringers pays for the call to the kernel.
void doorbell::wake(slot& s, int peer) noexcept {
  s.rings.fetch_add(1, std::memory_order_seq_cst);  // partners: sleep, end_watch
  std::uint32_t where = s.where.load(std::memory_order_seq_cst);
  do {
    if (where == awake || where == watched) return;
  } while (!s.where.compare_exchange_weak(where, awake, std::memory_order_seq_cst));
  if (where == on_word) return machine::wake_shared(s.where);
  socket_->send(static_cast<std::uint32_t>(peer), {0, static_cast<std::uint32_t>(self_), 0});
}

void doorbell::announce(int peer, std::uint32_t messages) noexcept {
  const std::uint32_t all = to_[index(peer)] += messages;
  // Releases what MPI wrote for the peer to the peer that sees the count. Partner: announced_by.
  if (is_neighbour(peer)) announced(self_, peer).store(all, std::memory_order_release);
}

void doorbell::ring(int peer) noexcept {
  if (is_neighbour(peer)) return wake(slot_of(peer), peer);
  socket_->send(static_cast<std::uint32_t>(peer),
                {0, static_cast<std::uint32_t>(self_), to_[index(peer)]});
}

void doorbell::ring_self() noexcept { wake(slot_of(self_), self_); }

std::uint32_t doorbell::announced_by(int peer) const noexcept {
  if (!is_neighbour(peer)) return from_[index(peer)];
  return announced(peer, self_).load(std::memory_order_acquire);  // partner: announce
}

/// Reads the rings that have come over UDP; true if there was one. The counts of neighbours lie in
/// the shared memory.
bool doorbell::read_socket() noexcept {
  bool any = false;
  while (const auto r = socket_->receive()) {
    any = true;
    // A ring may overtake another one.
    std::uint32_t& known = from_[r->from];
    if (static_cast<std::int32_t>(r->announced - known) > 0) known = r->announced;
  }
  return any;
}

doorbell::ticket doorbell::look() noexcept {
  const ticket now = slot_of(self_).rings.load(std::memory_order_acquire);
  if (socket_) read_socket();
  return now;
}

bool doorbell::sleep(ticket since, std::chrono::nanoseconds at_most) noexcept {
  slot& s = slot_of(self_);
  assert(s.where.load(std::memory_order_relaxed) == awake);
  s.where.store(socket_ ? on_socket : on_word, std::memory_order_seq_cst);
  bool rung = s.rings.load(std::memory_order_seq_cst) != since;  // partner: wake
  if (!rung) {
    if (socket_) socket_->wait(at_most);
    // The rank does not sleep on `rings`: a late ringer may say `awake` before this blocks, for a
    // ring that was seen.
    else machine::block_shared(s.where, on_word, at_most);
  }
  s.where.store(awake, std::memory_order_relaxed);
  rung = s.rings.load(std::memory_order_acquire) != since;
  if (socket_ && read_socket()) rung = true;
  return rung;
}

void doorbell::watch() noexcept {
  std::atomic<std::uint32_t>& where = slot_of(self_).where;
  if (where.load(std::memory_order_relaxed) != on_word) return;
  std::uint32_t asleep = on_word;
  where.compare_exchange_strong(asleep, watched, std::memory_order_seq_cst);
}

doorbell::ticket doorbell::rings() const noexcept {
  return slot_of(self_).rings.load(std::memory_order_acquire);
}

void doorbell::end_watch(ticket since) noexcept {
  slot& s = slot_of(self_);
  std::uint32_t is = watched;
  if (!s.where.compare_exchange_strong(is, on_word, std::memory_order_seq_cst))
    return;  // the sleeper is awake, or is woken by those that ring
  if (s.rings.load(std::memory_order_seq_cst) != since) wake(s, self_);  // partner: wake
}

}  // namespace cleave::net::mpi
