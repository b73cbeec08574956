#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "protocol/message.hpp"
#include "transport/transport.hpp"

/// Whom to ask for anything.
namespace cleave::net {

/// A peer that may have work: not one that asked this node itself, and none that said that it has
/// nothing.
struct candidate {
  address at = 0;
  distance how_far = distance::far;
  bool heard = false;  ///< a heartbeat has said what it does
  load state;
};

/// Deterministic: the same seed gives the same choices.
class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  /// Below n, which is not 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

private:
  std::uint64_t state_;
};

enum class strategy : std::uint8_t {
  relay,        ///< the relay chooses (Tascell, section 3.5)
  random,       ///< any candidate
  near_first,   ///< a near one; now and then a far one; of either the better of two
  two_choices,  ///< the one of two at random whose task was split least, then the busier
  least_split,  ///< the one whose task was split least; of several the nearest, then any
};

/// The address that a relay answers itself: it passes the request on to whom it likes.
inline constexpr address relay_address = ~address{0};

/// Chooses one of the candidates.
std::optional<address> choose(strategy how, const std::vector<candidate>& from,
                              random_numbers& random);

}  // namespace cleave::net
