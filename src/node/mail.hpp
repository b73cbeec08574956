#pragma once

#include "node/outlet.hpp"

#include <mutex>
#include <vector>

namespace cleave::net {

/// What members of a team say to each other, on its way out.
///
/// Invariant: what one member sends another leaves in that order, and nothing is left behind: who
/// finds another thread sending leaves it to that one, which looks again when it has ended.
class member_mail {
public:
  explicit member_mail(outlet& out) : out_(out) {}

  /// A team has begun; what is for another one is dropped. The driver's thread.
  void set_team(std::uint64_t number, std::vector<address> members);
  // The driver's thread.
  std::uint64_t team() const noexcept { return team_; }
  const std::vector<address>& members() const noexcept { return members_; }

  /// Any thread; does not block. It leaves with the next send().
  void put(std::uint64_t team, unsigned rank, bytes contents);
  /// All that is there. The driver's thread, and any where the transport's may be.
  void send();
  /// By whoever has something to send: the driver's thread may have to wait for a CPU. Any thread.
  void flush();

private:
  struct letter {
    std::uint64_t team;
    unsigned rank;
    bytes contents;
  };
  bool has_letters();
  void send_all();

  outlet& out_;
  std::mutex sending_;            // of who sends; before the other one
  std::uint64_t team_ = 0;        // set with it, by the driver's thread
  std::vector<address> members_;  // too
  std::mutex mutex_;
  std::vector<letter> letters_;  // with that mutex
};

}  // namespace cleave::net
