#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

/// Numbers and byte strings as they are on the wire: the same on every machine, whatever its byte
/// order. A number is a varint: seven bits a byte, the lowest first, the top bit says that more
/// follow. What is random in all its bits (an incarnation, a hash) has eight bytes, the lowest
/// first.
namespace cleave::net {

class writer {
public:
  explicit writer(bytes& out) : out_(out) {}

  void byte(std::uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void fixed(std::uint64_t value) {
    std::array<std::byte, 8> eight;
    for (std::size_t i = 0; i < 8; ++i) eight[i] = static_cast<std::byte>(value >> 8 * i);
    const std::size_t at = out_.size();
    out_.resize(at + eight.size());
    std::copy(eight.begin(), eight.end(), out_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void string(std::span<const std::byte> value) {
    number(value.size());
    out_.insert(out_.end(), value.begin(), value.end());
  }

private:
  bytes& out_;
};

/// Reads what a stranger may have written. After the first thing that is not as it should be
/// nothing more is read, every value is 0 and failed() says why. Allocates no more than the message
/// is long.
class reader {
public:
  explicit reader(std::span<const std::byte> in) : rest_(in) {}
  /// The last string takes the message's memory, if it is most of the message.
  explicit reader(bytes* in) : rest_(*in), whole_(in) {}

  std::uint8_t byte() {
    if (rest_.empty()) return fail("ends too early");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) return fail("number above 64 bits");
      value |= std::uint64_t{next & 0x7fU} << shift;
      if (next < 0x80) return error_ == nullptr ? value : 0;
    }
    return 0;
  }
  std::uint64_t fixed() {
    if (rest_.size() < 8) return fail("ends too early");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(rest_[i]) << 8 * i;
    rest_ = rest_.subspan(8);
    return value;
  }
  bytes string() {
    const std::uint64_t size = number();
    if (size > rest_.size()) return fail("string longer than the message"), bytes{};
    if (size == rest_.size() && whole_ != nullptr && size > whole_->size() / 2) {
      whole_->erase(whole_->begin(), whole_->end() - static_cast<std::ptrdiff_t>(size));
      bytes value;
      value.swap(*std::exchange(whole_, nullptr));
      rest_ = {};
      return value;
    }
    bytes value(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return value;
  }
  /// How many elements follow, each of at least one byte.
  std::size_t count() {
    const std::uint64_t size = number();
    return size > rest_.size() ? fail("list longer than the message")
                               : static_cast<std::size_t>(size);
  }

  /// What follows is not for this reader.
  void skip() { rest_ = {}; }
  /// Nothing may follow the last field.
  void end() {
    if (!rest_.empty()) fail("goes on after its end");
  }
  std::uint8_t fail(const char* why) {
    if (error_ == nullptr) error_ = why;
    rest_ = {};
    return 0;
  }
  const char* failed() const { return error_; }

private:
  std::span<const std::byte> rest_;
  bytes* whole_ = nullptr;  // the message, if it is the reader's; null: it is not, or was taken
  const char* error_ = nullptr;
};

}  // namespace cleave::net
