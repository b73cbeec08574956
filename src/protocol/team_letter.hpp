#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "protocol/encoding.hpp"

/// A `team_data` as it is on the wire, written and read part by part: members of a team say more
/// than all else that nodes say, and each message more would cost memory for a list.
namespace cleave::net {

class team_letter {
public:
  static constexpr unsigned most_parts = 127;  // their number is one byte

  team_letter(std::uint64_t program, std::uint64_t from, std::uint64_t team);
  void add(std::span<const std::byte> part);
  bool is_full() const noexcept { return parts_ == most_parts; }
  /// What is to be sent. The letter is none afterwards.
  bytes take() noexcept;

private:
  bytes wire_;
  std::size_t count_at_ = 0;
  unsigned parts_ = 0;
};

/// Begins a letter of one part, which is to be written behind it.
void begin_only_part(bytes& letter, std::uint64_t program, std::uint64_t from, std::uint64_t team);
/// All that is behind the first `begun` bytes, which begin_only_part() has written, is the part.
void end_only_part(bytes& letter, std::size_t begun) noexcept;

/// Reads what is_team_data() has said to be one, and a stranger may have written.
class team_parts {
public:
  explicit team_parts(bytes in);
  /// The process that it is meant for; 0: whichever is there.
  std::uint64_t to() const noexcept { return to_; }
  std::uint64_t team() const noexcept { return team_; }
  /// The next one; none if there are no more, or something is wrong.
  std::optional<bytes> next();
  /// What is wrong with what was read so far, or nullptr.
  const char* wrong() const noexcept { return reader_.failed(); }

private:
  bytes in_;
  reader reader_{&in_};
  std::uint64_t to_ = 0, team_ = 0;
  std::size_t left_ = 0;
};

}  // namespace cleave::net
