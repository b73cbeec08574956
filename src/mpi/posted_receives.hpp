#pragma once

#include "transport/transport.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>

namespace cleave::net::mpi {

/// Receives of short messages, from any rank, that are posted before these are sent: MPI writes
/// what comes to where it is read, and one call tells that it is there.
///
/// Invariant: the places from the oldest on are posted, in that order, and MPI fills them in the
/// order in which they were posted; so only the oldest is looked at. Those of what was found last
/// are posted when the next message is looked for.
class posted_receives {
public:
  /// Posts nothing yet. No message over `over` is longer than `longest` bytes.
  posted_receives(MPI_Comm over, std::size_t longest) : over_(over), longest_(longest) {}
  posted_receives(const posted_receives&) = delete;
  posted_receives& operator=(const posted_receives&) = delete;

  /// Lets MPI work, and sets `found` if a message has come. Returns MPI's code: an error does not
  /// mean that nothing was found, and the next call goes on where this one stopped.
  int next(std::optional<incoming>& found);
  /// Nothing is received any more.
  void cancel();

private:
  static constexpr std::size_t places = 8;
  struct place {
    MPI_Request request = MPI_REQUEST_NULL;
    bytes message;
  };
  place& at(std::size_t number) noexcept { return all_[number % places]; }
  int post();

  const MPI_Comm over_;
  const std::size_t longest_;
  std::array<place, places> all_;
  std::size_t oldest_ = 0, end_ = 0;  // the numbers of those that are posted
};

}  // namespace cleave::net::mpi
