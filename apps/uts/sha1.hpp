// SHA-1 of a few words: all that the tree generator needs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace apps::uts {

using digest = std::array<std::uint32_t, 5>;

namespace sha1_detail {

struct state {
  std::uint32_t a, b, c, d, e;
};

template <int Phase>
[[gnu::always_inline]] inline std::uint32_t mix(std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if constexpr (Phase == 0) return d ^ (b & (c ^ d));
  if constexpr (Phase == 2) return (b & c) + (d & (b ^ c));
  return b ^ c ^ d;
}

template <int Round>
[[gnu::always_inline]] inline std::uint32_t schedule(std::uint32_t (&w)[16]) {
  if constexpr (Round >= 16)
    w[Round & 15] = std::rotl(
        w[(Round + 13) & 15] ^ w[(Round + 8) & 15] ^ w[(Round + 2) & 15] ^ w[Round & 15], 1);
  return w[Round & 15];
}

// The state is handed on with its names rotated, so that no round moves a word.
template <int Round>
[[gnu::always_inline]] inline void step(std::uint32_t a, std::uint32_t& b, std::uint32_t c,
                                        std::uint32_t d, std::uint32_t& e, std::uint32_t (&w)[16]) {
  constexpr std::uint32_t constant[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
  e += std::rotl(a, 5) + mix<Round / 20>(b, c, d) + constant[Round / 20] + schedule<Round>(w);
  b = std::rotl(b, 30);
}

template <int Round>
[[gnu::always_inline]] inline void rounds(state& s, std::uint32_t (&w)[16]) {
  step<Round>(s.a, s.b, s.c, s.d, s.e, w);
  step<Round + 1>(s.e, s.a, s.b, s.c, s.d, w);
  step<Round + 2>(s.d, s.e, s.a, s.b, s.c, w);
  step<Round + 3>(s.c, s.d, s.e, s.a, s.b, w);
  step<Round + 4>(s.b, s.c, s.d, s.e, s.a, w);
  if constexpr (Round + 5 < 80) rounds<Round + 5>(s, w);
}

}  // namespace sha1_detail

// The message is host-order words, so few that they fill one block with their padding, which is
// constant. One function with all rounds: left to itself GCC makes four of them, and hands the
// state on in memory, which takes half as long again.
template <class... Words>
[[gnu::noinline]] digest sha1(Words... message) {
  constexpr std::uint32_t words = sizeof...(message);
  static_assert(words <= 13);
  std::uint32_t block[16] = {message..., 0x80000000};
  block[15] = 32 * words;
  constexpr digest start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  sha1_detail::state s{start[0], start[1], start[2], start[3], start[4]};
  sha1_detail::rounds<0>(s, block);
  return {start[0] + s.a, start[1] + s.b, start[2] + s.c, start[3] + s.d, start[4] + s.e};
}

}  // namespace apps::uts
