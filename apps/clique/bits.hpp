// A set of vertices: a fixed number of words, so that the loops over them have constant bounds.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace apps::clique {

template <int Words>
struct bits {
  static constexpr int capacity = 64 * Words;

  std::array<std::uint64_t, Words> word{};

  void insert(int v) { word[v / 64] |= std::uint64_t{1} << v % 64; }
  void erase(int v) { word[v / 64] &= ~(std::uint64_t{1} << v % 64); }
  bool contains(int v) const { return word[v / 64] >> v % 64 & 1; }

  bool empty() const {
    std::uint64_t any = 0;
    for (std::uint64_t w : word) any |= w;
    return any == 0;
  }

  friend bits operator&(bits a, const bits& b) {
    for (int i = 0; i < Words; i++) a.word[i] &= b.word[i];
    return a;
  }
};

// Calls f<Words>() with enough words for n vertices.
template <class F>
auto with_words(int n, F f) {
  if (n <= 64) return f.template operator()<1>();
  if (n <= 128) return f.template operator()<2>();
  if (n <= 192) return f.template operator()<3>();
  if (n <= 256) return f.template operator()<4>();
  if (n <= 384) return f.template operator()<6>();
  if (n <= 512) return f.template operator()<8>();
  if (n <= 1024) return f.template operator()<16>();
  if (n <= 2048) return f.template operator()<32>();
  return f.template operator()<64>();
}

}  // namespace apps::clique
