#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace cleave::machine {

/// Memory that the processes of a host share, zero at first. Whoever creates it takes its name away
/// again as soon as the others have opened it, so that nothing stays behind when they are killed.
class shared_memory {
public:
  shared_memory() = default;
  ~shared_memory();
  shared_memory(shared_memory&& other) noexcept { swap(other); }
  shared_memory& operator=(shared_memory&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Empty if the host has none to give, or too little.
  static shared_memory create(const std::string& name, std::size_t bytes);
  static shared_memory open(const std::string& name, std::size_t bytes);
  /// The first bytes of an open file, which remains the caller's.
  static shared_memory map(int file, std::size_t bytes);
  static void remove(const std::string& name) noexcept;

  explicit operator bool() const noexcept { return at_ != nullptr; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(at_); }

private:
  void swap(shared_memory& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
  }

  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cleave::machine
