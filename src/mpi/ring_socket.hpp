#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace cleave::net::mpi {

/// The place where a rank's socket is reached, as IPv4 addresses in network order. Ranks exchange
/// these over MPI.
struct contact {
  struct network {
    std::uint32_t address = 0, mask = 0;
  };
  std::array<network, 4> networks{};  // this host's, but for the loopback; unused ones are zero
  std::uint16_t port = 0;             // 0: no socket
  std::uint64_t job =
      0;  // drawn by chance; rank 0's is in every ring, so that strangers' count for nothing
};

/// A ring over UDP. It may be lost; nothing but time depends on it.
class ring_socket {
public:
  struct ring {
    std::uint64_t job;
    std::uint32_t from;  // the rank that rings
    // How many messages that rank has begun to send to this one, modulo 2^32.
    std::uint32_t announced;
  };

  /// Opens a socket. Throws std::runtime_error if there is none to be had.
  ring_socket();
  ~ring_socket();
  ring_socket(const ring_socket&) = delete;
  ring_socket& operator=(const ring_socket&) = delete;

  contact mine() const;
  /// Tells how the other ranks are reached, by rank.
  void know(const std::vector<contact>& contacts);

  /// Sends a ring. Any thread may call it.
  void send(std::uint32_t to, ring what) const noexcept;
  std::optional<ring> receive() const noexcept;
  /// Blocks until a ring is there.
  void wait(std::chrono::nanoseconds at_most) const noexcept;

private:
  struct target {
    std::uint32_t address = 0;
    std::uint16_t port = 0;
  };

  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::uint64_t job_ = 0;
  std::vector<target> targets_;
};

}  // namespace cleave::net::mpi
