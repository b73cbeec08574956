#pragma once

#include <cleave/detail/built_with.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Numbers and blocks of bytes as they travel: little-endian, whatever the machine.
namespace cleave::detail {

class replicas;

/// What arrived is not what was expected: cut short, or from another program.
struct malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a node holds of values that live on several nodes; where nothing else is said, the
/// process's.
replicas& replicas_of_process() noexcept;

template <class T>
concept number = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;

/// Objects within objects: a node of a tree and its list are two.
constexpr int most_nested = 2048;

/// Lives around the writing or reading of what contains other things: bytes must not decide how
/// much stack that takes, and what nobody could read is not written.
template <class Bytes>
class [[nodiscard]] nested {
public:
  explicit nested(Bytes& in) : in_(in) {
    if (in.depth_ >= most_nested) in.refuse_deeper();
    in.depth_++;
  }
  ~nested() { in_.depth_--; }
  nested(const nested&) = delete;
  nested& operator=(const nested&) = delete;

private:
  Bytes& in_;
};

/// Appends to a message that `node` sends.
class byte_writer {
public:
  explicit byte_writer(std::vector<std::byte>& out, replicas& node = replicas_of_process()) noexcept
      : out_(out), node_(node) {}

  void raw(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    out_.insert(out_.end(), first, first + size);
  }
  template <number T>
  void put(T value) {
    put_all(&value, 1);
  }
  template <number T>
  void put_all(const T* first, std::size_t count) {
    if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
      raw(first, count * sizeof(T));
    } else {
      for (std::size_t i = 0; i < count; i++) {
        auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(first[i]);
        std::reverse(bytes.begin(), bytes.end());
        raw(bytes.data(), sizeof(T));
      }
    }
  }
  void put_length(std::size_t n) { put<std::uint64_t>(n); }
  void put_text(std::string_view text) {
    put_length(text.size());
    raw(text.data(), text.size());
  }
  /// Appends what put() does, after its length: a reader that does not know it can pass over it.
  template <std::invocable Put>
  void put_block(Put put) {
    const std::size_t at = out_.size();
    put_length(0);
    put();
    std::uint64_t length = out_.size() - at - sizeof(std::uint64_t);
    for (std::size_t i = 0; i < sizeof length; i++, length >>= 8)
      out_[at + i] = static_cast<std::byte>(length & 0xff);
  }

  replicas& node() const noexcept { return node_; }

private:
  friend class nested<byte_writer>;
  [[noreturn]] void refuse_deeper() const {
    throw std::length_error("cleave: more objects within objects than can travel");
  }

  std::vector<std::byte>& out_;
  replicas& node_;
  int depth_ = 0;
};

/// Reads a message that `node` received, from its beginning. Throws malformed rather than read
/// past its end, and believes no length that is more than what is left.
class byte_reader {
public:
  explicit byte_reader(std::span<const std::byte> bytes,
                       replicas& node = replicas_of_process()) noexcept
      : left_(bytes), node_(node) {}

  std::size_t left() const noexcept { return left_.size(); }

  std::span<const std::byte> raw(std::size_t size) {
    if (size > left()) fail(std::to_string(size) + " bytes");
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  template <number T>
  T get() {
    T value;
    get_all(&value, 1);
    return value;
  }
  template <number T>
  void get_all(T* first, std::size_t count) {
    if (count > left() / sizeof(T)) fail(std::to_string(count) + " numbers");
    const auto bytes = raw(count * sizeof(T));
    if constexpr (std::is_same_v<T, bool>) {
      for (std::size_t i = 0; i < count; i++) {
        if (bytes[i] > std::byte{1}) fail("0 or 1");
        first[i] = bytes[i] != std::byte{0};
      }
    } else if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
      if (count != 0) std::memcpy(first, bytes.data(), bytes.size());
    } else {
      for (std::size_t i = 0; i < count; i++) {
        std::array<std::byte, sizeof(T)> one;
        std::reverse_copy(bytes.begin() + i * sizeof(T), bytes.begin() + (i + 1) * sizeof(T),
                          one.begin());
        first[i] = std::bit_cast<T>(one);
      }
    }
  }
  /// The length of something whose elements take a byte each, or more.
  std::size_t get_length() {
    const auto n = get<std::uint64_t>();
    if (n > left()) fail("a length of at most that");
    return static_cast<std::size_t>(n);
  }
  std::string get_text() {
    const auto bytes = raw(get_length());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  byte_reader get_block() {
    byte_reader block(raw(get_length()), node_);
    block.depth_ = depth_;
    return block;
  }
  void expect_end() const {
    if (!left_.empty()) fail("the end");
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw malformed("malformed bytes: expected " + expected + " where " + std::to_string(left()) +
                    " bytes are left");
  }

  replicas& node() const noexcept { return node_; }

private:
  friend class nested<byte_reader>;
  [[noreturn]] void refuse_deeper() const { fail("fewer objects within objects"); }

  std::span<const std::byte> left_;
  replicas& node_;
  int depth_ = 0;
};

}  // namespace cleave::detail
