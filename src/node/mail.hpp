#pragma once

#include "node/outlet.hpp"
#include "protocol/team_letter.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace cleave::net {

/// What members of a team say to each other, on its way out.
///
/// Invariant: what one member sends another leaves in that order, and nothing is left behind: a
/// thread that finds another thread sending leaves it to that one, which looks again when it has
/// ended. Whoever adds sets `any_` and then looks at `is_sending_`; whoever ends clears that one
/// and then looks at `any_`. All four are sequentially consistent, so one of them sees the other.
class member_mail {
public:
  explicit member_mail(outlet& out) : out_(out) {}

  /// A team has begun; what is for another one is dropped. The driver's thread.
  void set_team(std::uint64_t number, std::vector<address> members);
  // The driver's thread.
  std::uint64_t team() const noexcept { return team_; }
  const std::vector<address>& members() const noexcept { return members_; }

  /// Adds what one member says to another, which leaves with the next send(). Any thread may call
  /// it; does not block.
  void put(std::uint64_t team, unsigned rank, std::span<const std::byte> contents);
  /// Begins a letter for some member. What one says to it is to be written behind that.
  bytes begin_letter(std::uint64_t team) const;
  /// Sends a letter, which was that long when it was begun, after what was put for its member: at
  /// once where the transport allows that, else with the next flush(). Its memory stays if it is
  /// not needed. Any thread may call it; does not block.
  void send_letter(std::uint64_t team, unsigned rank, bytes& message, std::size_t begun);
  /// Sends all that is there. The driver's thread calls it, and any other where the transport
  /// allows that.
  void send();
  /// Sends what is there at once, from the thread that has it: the driver's thread may have to wait
  /// for a CPU. Any thread may call it.
  void flush();

private:
  /// What one member gets: one message, as each message costs a wake-up.
  struct letter {
    address to;
    team_letter contents;
  };
  struct sending;
  void send_all();
  std::optional<address> where(std::uint64_t team, unsigned rank) const;
  std::optional<address> member(std::uint64_t team, unsigned rank) const;

  outlet& out_;
  std::atomic<bool> is_sending_{false};  // some thread, to which the next two belong
  // Both are empty but for a moment, their memory is kept.
  std::vector<letter> leaving_;
  std::vector<outgoing> on_their_way_;
  std::atomic<bool> any_{false};  // there are letters
  mutable std::mutex mutex_;
  std::vector<letter> letters_;   // with that mutex
  std::uint64_t team_ = 0;        // set by the driver's thread with that mutex
  std::vector<address> members_;  // set by the driver's thread with that mutex
};

}  // namespace cleave::net
