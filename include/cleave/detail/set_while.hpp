#pragma once

#include <utility>

namespace cleave::detail {

/// Keeps a flag of this thread set while this object lives.
class [[nodiscard]] set_while {
public:
  explicit set_while(bool& flag) noexcept : flag_(flag), before_(std::exchange(flag, true)) {}
  ~set_while() { flag_ = before_; }
  set_while(const set_while&) = delete;
  set_while& operator=(const set_while&) = delete;

private:
  bool& flag_;
  const bool before_;
};

}  // namespace cleave::detail
