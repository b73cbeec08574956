#pragma once

#include <cleave/detail/division/registers.hpp>
#include <cleave/detail/frame.hpp>

#include <cassert>

/// Steps of undivided constructs, which are on no list of frames.
namespace cleave::detail {

template <class Undo>
[[gnu::noinline, gnu::cold]] void undo_on_unwinding(Undo& undo) {
  undo();
}

/// A step that is done and on no list: counts it, and undoes it in whatever way it is left. On
/// unwinding out of line, with what a small closure captured in registers: else that would be in
/// memory for each call. (It asks for an exception first: the other way round, GCC 12 takes no
/// notice of a [[likely]] before the step.)
template <class Undo>
struct undo_unlisted {
  Undo& undo;
  bool by_exception = true;

  [[gnu::always_inline]] explicit undo_unlisted(Undo& u) noexcept : undo(u) { ++here.unlisted; }
  [[gnu::always_inline]] ~undo_unlisted() {
    --here.unlisted;
    if (by_exception) [[unlikely]] {
      if constexpr (fits_registers<Undo>) {
        call_in_registers(undo);
      } else {
        undo_on_unwinding(undo);
      }
    } else {
      undo();
    }
  }
  undo_unlisted(const undo_unlisted&) = delete;
  undo_unlisted& operator=(const undo_unlisted&) = delete;
};

}  // namespace cleave::detail
