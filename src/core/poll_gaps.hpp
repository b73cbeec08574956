#pragma once

#include <cleave/detail/clock.hpp>
#include <cleave/detail/frame.hpp>

#include <array>
#include <cstdint>

namespace cleave::detail {

/// How soon after a look for requests a worker polls again, by what its innermost frame is. Where
/// that was soon several times, a look may put a small gift off: the next look is near. A single
/// long gap makes the type one that is not known to poll soon. Owner only.
class poll_gaps {
public:
  /// Called at each poll that finds a signal. Learns, if the last look had asked for that.
  void polled(std::uint64_t now) noexcept {
    if (looked_in_ == nullptr) return;
    place& p = place_of(*looked_in_);
    if (p.type != looked_in_) p = {looked_in_, 0};
    if (now - looked_at_ > longest()) p.short_gaps = 0;
    else if (p.short_gaps < enough) ++p.short_gaps;
    looked_in_ = nullptr;
  }
  /// Called at the end of a look; the worker's next poll finds a signal, so it is a measurement.
  void looked(const frame_type& innermost, std::uint64_t now) noexcept {
    looked_in_ = &innermost, looked_at_ = now;
  }
  bool are_short(const frame_type& innermost) const noexcept {
    const place& p = known_[index_of(innermost)];
    return p.type == &innermost && p.short_gaps == enough;
  }

private:
  static constexpr unsigned enough = 4;
  static std::uint64_t longest() noexcept { return ticks_per_microsecond(); }

  struct place {
    const frame_type* type = nullptr;
    unsigned short_gaps = 0;  // in a row
  };
  static std::size_t index_of(const frame_type& t) noexcept {
    return (reinterpret_cast<std::uintptr_t>(&t) / sizeof(frame_type)) % places;
  }
  place& place_of(const frame_type& t) noexcept { return known_[index_of(t)]; }

  static constexpr std::size_t places = 16;
  std::array<place, places> known_{};
  const frame_type* looked_in_ = nullptr;  // null: the next poll measures nothing
  std::uint64_t looked_at_ = 0;
};

}  // namespace cleave::detail
