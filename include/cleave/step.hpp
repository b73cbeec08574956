#pragma once

#include <cleave/detail/division/undivided.hpp>

#include <type_traits>
#include <utility>

namespace cleave {

/// A change of the workspace that can be undone: `step placed{do, undo};` does it now and undoes it
/// when the scope is left, in whatever way. When a worker goes back in time to give work away, it
/// undoes the steps made since, innermost first, and redoes them afterwards.
///
/// Capture by value what the change needs to know (`[=, &b]`): a captured address forces the
/// variable into memory. Neither closure may enter a construct or poll; the one that undoes must
/// not throw, and neither may when called again for a split: that terminates. If `do` throws here,
/// nothing was done. Source: Tascell's dynamic_wind.
template <class Do, class Undo>
class [[nodiscard]] step : detail::frame {
public:
  [[nodiscard]] [[gnu::always_inline]] step(Do d, Undo u) : do_(std::move(d)), undo_(std::move(u)) {
    do_();
    outer = detail::here.innermost;
    tag = detail::fresh(type_);
    detail::here.innermost = this;
  }
  [[gnu::always_inline]] ~step() {
    detail::here.innermost = outer;
    undo_();
  }
  step(const step&) = delete;
  step& operator=(const step&) = delete;

private:
  static void undo(frame& f) noexcept { static_cast<step&>(f).undo_(); }
  static void redo(frame& f) noexcept { static_cast<step&>(f).do_(); }
  static constexpr detail::frame_type type_{
      detail::frame_role::step, nullptr, nullptr, nullptr, &undo, &redo};
  [[no_unique_address]] Do do_;
  [[no_unique_address]] Undo undo_;
};

namespace detail {

/// A loop's `wind` where the loop can be divided: its step goes on the list.
struct linked_wind {
  template <class Do, class Body, class Undo>
  [[gnu::always_inline]] decltype(auto) operator()(Do make, Body body, Undo undo) const {
    step made{std::move(make), std::move(undo)};
    return body();
  }
};

/// A loop's `wind` where the loop runs undivided: its step is on no list, and counted while it is
/// done.
struct undivided_wind {
  template <class Do, class Body, class Undo>
  [[gnu::always_inline]] decltype(auto) operator()(Do make, Body body, Undo undo) const {
    make();
    undo_unlisted<Undo> made{undo};
    if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
      body();
      made.by_exception = false;
      return;
    } else {
      decltype(auto) result = body();
      made.by_exception = false;
      return result;
    }
  }
};

}  // namespace detail

}  // namespace cleave
