#pragma once

#include "requests/mailbox.hpp"

#include <cstdint>

namespace cleave::detail {

/// Who of two computes or asks for work: the guest, which brings its own, or the reserve.
///
/// The reserve leaves the seat where there is no work. It takes it only for work that no guest has
/// brought: whoever brings some makes it visible and then calls wake(); whoever leaves the seat
/// makes that visible and then looks for work. All of that is seq_cst, so one sees the other.
/// Platform is that of the mailbox.
template <class Platform>
class seat {
public:
  enum taken_by : std::uint32_t { nobody, guest, reserve };

  taken_by taken() const noexcept {
    return static_cast<taken_by>(by_.load(std::memory_order_seq_cst));
  }
  /// Takes it for the guest. Returns who had it: nobody, if that has succeeded. Acquire: what the
  /// last guest has left.
  taken_by take() noexcept {
    std::uint32_t by = nobody;
    by_.compare_exchange_strong(by, guest, std::memory_order_seq_cst, std::memory_order_seq_cst);
    return static_cast<taken_by>(by);
  }
  /// The guest leaves. Any thread may be it next.
  template <class HasWork>
  void leave(HasWork has_work, mailbox<Platform>& of_reserve) noexcept {
    by_.store(nobody, std::memory_order_seq_cst);
    if (has_work()) wake(of_reserve);
  }
  /// There is work that no guest has brought. Any thread, after it can be found.
  void wake(mailbox<Platform>& of_reserve) const noexcept {
    if (taken() == nobody) of_reserve.ring(news);
  }
  /// The reserve leaves the seat, if it has it and there is no work, and waits until there is some,
  /// and the seat is free. Runs serve() for every signal meanwhile.
  template <class HasWork, class Serve>
  void sit_out(HasWork has_work, mailbox<Platform>& own, Serve serve) {
    if (taken() == reserve) {
      if (has_work()) return;
      by_.store(nobody, std::memory_order_seq_cst);
    }
    own.wait(
        [&] {
          std::uint32_t by = nobody;
          return has_work() && by_.compare_exchange_strong(by, reserve, std::memory_order_seq_cst,
                                                           std::memory_order_relaxed);
        },
        serve, [] { return waiting::sleep; });
  }

private:
  typename Platform::template atomic<std::uint32_t> by_{nobody};
};

}  // namespace cleave::detail
