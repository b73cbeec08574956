#pragma once

#include "nats/subjects.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Messages that are longer than a relay allows go in parts, each a message with a header: the
/// number of the message at its sender, its bytes in all, and where in it this part begins.
namespace cleave::net::nats {

inline constexpr std::string_view part_mark = ".part";  ///< stands at the end of the kind
inline constexpr std::size_t part_header = 3 * sizeof(std::uint64_t);

/// Makes `part` the part of the message that begins at `offset`, of at most `most` bytes with its
/// header. Returns where the next one begins.
std::size_t write_part(std::uint64_t number, std::span<const std::byte> message, std::size_t offset,
                       std::size_t most, std::vector<std::byte>& part);

/// Makes messages of parts again.
///
/// Invariant: a sender has at most one message under way, the last one that it has begun. What is
/// kept of it is its beginning without a gap, shorter than the whole, which is at most
/// `most_bytes`. A part that does not follow ends it, so nobody gets half a message. `kept_` is
/// what all of them take, after take() at most most_kept(), so many names take no more than a few:
/// beyond that, of the machine that takes most, the message ends whose last part is the oldest.
class assembler {
public:
  using clock = std::chrono::steady_clock;

  explicit assembler(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  /// Takes a part; returns the message if this was its last one. What the part says may be wrong.
  std::optional<std::vector<std::byte>> take(const endpoint& from, std::span<const std::byte> part,
                                             clock::time_point now);
  /// How many messages have begun and not ended.
  std::size_t unfinished() const noexcept { return unfinished_.size(); }
  std::size_t most_kept() const noexcept { return 4 * most_bytes_; }

private:
  struct message {
    std::uint64_t number = 0, bytes = 0;
    std::vector<std::byte> content;
    clock::time_point since;
  };
  // The bytes that a message takes besides its content, about.
  static constexpr std::size_t for_each = 256;
  using iterator = std::map<endpoint, message>::iterator;

  std::vector<std::byte> drop(iterator at);
  iterator oldest_of_who_takes_most();

  const std::size_t most_bytes_;
  std::map<endpoint, message> unfinished_;
  std::size_t kept_ = 0;
};

}  // namespace cleave::net::nats
