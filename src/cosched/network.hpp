#pragma once

#include "cosched/descriptors.hpp"
#include "cosched/doorbell.hpp"
#include "cosched/spin_time.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::cosched {

/// How a rank sleeps in a job on several nodes. Whatever another node does for it arrives through
/// descriptors, which poll() waits for. The rings of its own node come so, too: a datagram without
/// contents to a socket of its own, because poll() cannot wait for a word.
///
/// A stranger's datagram counts for nothing: who was rung is told by the doorbell's word only, in
/// memory that is the user's own. One that finds the socket full is not missed: the socket is ready
/// then. But the kernel charges each one to its sender until it is read. A rank that has sent too
/// many sends from a new socket.
class network {
public:
  /// `name`: the same on all ranks of the node, and nowhere else. `in_world`: their numbers in the
  /// world. Null if there is no socket to be had.
  static std::unique_ptr<network> make(std::string_view name, unsigned me,
                                       std::vector<int> in_world, const descriptors& of_mpi);
  ~network();
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  int in_world(unsigned i) const noexcept { return in_world_[i]; }
  /// Wakes rank i of this node, after it was rung. Any thread may call it.
  void wake(unsigned i) const noexcept;

  // Only the rank itself calls the functions that follow.

  /// Whether it is known what to wait for: MPI has asked in this look.
  bool can_sleep() const noexcept { return !of_mpi_->all().empty(); }
  /// Sleeps until the word is not the ticket any more (false), or another node has sent something
  /// (true); for as long as the platform does at most.
  bool sleep(const std::atomic<std::uint32_t>& word, std::uint32_t ticket);

  /// The parts of a sleep, which sleep_in_poll() in doorbell.hpp calls.
  void drain() const noexcept;
  polled poll();

private:
  network(int socket, std::string_view name, std::vector<int> in_world, const descriptors& of_mpi);

  struct address {
    sockaddr_un name;
    socklen_t length;
  };
  static address address_of(std::string_view name, unsigned i) noexcept;

  const int socket_;
  const std::string name_;
  const std::vector<int> in_world_;
  const descriptors* const of_mpi_;
  nanoseconds end_ = 0;             // when the last sleep must end
  std::vector<pollfd> waited_for_;  // a member, so that its memory is kept
};

}  // namespace cleave::cosched
