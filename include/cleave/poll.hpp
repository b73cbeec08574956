#pragma once

#include <cleave/detail/frame.hpp>

namespace cleave {

/// Lets a long leaf computation answer requests: call it every few microseconds where no other
/// construct is entered for long. One load when nobody asks. May be called by any thread.
/// Throws (a private type) if the scope it runs in was cancelled.
[[gnu::always_inline]] inline void poll() {
  // A request that could not be met stays parked until a construct adds something to give.
  if ((detail::rung_signals() & ~std::uint32_t{detail::parked}) != 0) [[unlikely]]
    detail::answer(detail::stack_pointer());
}

}  // namespace cleave
