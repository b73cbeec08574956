#pragma once

#include "machine/spinner.hpp"

#include <cleave/detail/clock.hpp>
#include <cleave/detail/task.hpp>

#include <cstdint>
#include <utility>

namespace cleave::detail {

/// A worker's watch over what other nodes send, while it waits. One thread uses it.
class watch {
public:
  /// `over` is null if nothing can come.
  explicit watch(message_watch* over) noexcept : over_(over) {}
  ~watch() { end(); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  /// Looks for what other nodes send until `holds` returns true, as long as being woken would take.
  /// Returns false if it does not hold then, or if nobody can watch here.
  template <class Holds>
  bool until(Holds holds) noexcept {
    if (!begin()) return false;
    machine::spinner spin(false);
    do {
      if (look()) spin.restart();
      if (holds()) return true;
    } while (spin());
    return false;
  }
  /// Calls run(), and watches on if the last call was short.
  template <class Run>
  void around(Run run) noexcept {
    if (over_ == nullptr) return run();
    if (!short_) end();
    if (on_) over_->keep_watch();
    const std::uint64_t since = ticks();
    run();
    short_ = ticks() - since < longest * ticks_per_microsecond();
    look();
  }
  void end() noexcept {
    if (std::exchange(on_, false)) over_->end_watch();
  }

private:
  static constexpr std::uint64_t longest = 100;  // microseconds

  bool begin() noexcept { return on_ = on_ || (over_ != nullptr && over_->begin_watch()); }
  bool look() noexcept { return on_ && over_->look(); }

  message_watch* const over_;
  bool on_ = false;
  bool short_ = false;
};

}  // namespace cleave::detail
