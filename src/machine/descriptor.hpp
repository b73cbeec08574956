#pragma once

#include <unistd.h>
#include <utility>

namespace cleave::machine {

/// A file descriptor that somebody owns; negative: none.
class descriptor {
public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { static_cast<void>(close()); }

  int operator*() const noexcept { return number_; }
  /// Whether the system has taken all that was written. True if there is none.
  bool close() noexcept {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

private:
  int number_;
};

}  // namespace cleave::machine
