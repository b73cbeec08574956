#pragma once

#include "machine/spinner.hpp"

#include <cleave/detail/clock.hpp>
#include <cleave/detail/task.hpp>

#include <algorithm>
#include <chrono>
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

  /// Looks for what other nodes send until `holds` returns true, as long as being woken would take,
  /// or as waits have lasted of late. Returns false if it does not hold then, or if nobody can
  /// watch here.
  template <class Holds>
  bool until(Holds holds) noexcept {
    if (!begin()) return false;
    if (waits_since_ == 0) waits_since_ = ticks();
    machine::spinner spin(false, std::max(machine::spin_time, patience()));
    do {
      if (look()) spin.restart();
      if (holds()) return waits_since_ = 0, true;
    } while (spin());
    return false;
  }
  /// Watches from here on; look() is called soon. Returns false if nobody can watch here.
  bool begin() noexcept { return on_ = on_ || (over_ != nullptr && over_->begin_watch()); }
  /// Receives what has come, if it watches. Returns whether something had.
  bool look() noexcept { return on_ && over_->look(); }
  /// The worker has slept since until() looked in vain. A sleep costs its CPU as much as a wait of
  /// that length; but those that wait for this node wait for it to be woken.
  void has_slept() noexcept {
    if (waits_since_ == 0) return;
    const std::uint64_t waited =
        (ticks() - std::exchange(waits_since_, 0)) / ticks_per_microsecond();
    const std::uint32_t usual = over_->patience.load(std::memory_order_relaxed);
    over_->patience.store(waited <= most_patience ? most_patience : usual / 2,
                          std::memory_order_relaxed);
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
  /// Receives what has come, and watches on until the next call, if these come soon after each
  /// other. To begin costs a wake-up of the thread that looks otherwise.
  void glance() noexcept {
    if (over_ == nullptr) return;
    const std::uint64_t now = ticks();
    if (now - std::exchange(glanced_, now) >= longest * ticks_per_microsecond()) {
      soon_ = 0;
      return end();
    }
    if (soon_ < glances_to_begin) ++soon_;
    else if (begin()) over_->keep_watch(), over_->look();
  }
  void end() noexcept {
    if (std::exchange(on_, false)) over_->end_watch();
  }

private:
  static constexpr std::uint64_t longest = 100;        // microseconds
  static constexpr std::uint32_t most_patience = 300;  // microseconds
  static constexpr unsigned glances_to_begin = 8;

  std::chrono::nanoseconds patience() const noexcept {
    return std::chrono::microseconds(over_->patience.load(std::memory_order_relaxed));
  }

  message_watch* const over_;
  bool on_ = false;
  bool short_ = false;
  std::uint64_t glanced_ = 0;      // the tick of the last glance
  unsigned soon_ = 0;              // how many glances have come soon after the last one
  std::uint64_t waits_since_ = 0;  // the tick since when until() has looked in vain; 0: it has not
};

}  // namespace cleave::detail
