#pragma once

#include <cleave/detail/division/bounds.hpp>
#include <cleave/detail/division/cutoff.hpp>
#include <cleave/detail/division/total.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/staying.hpp>
#include <cleave/detail/travel/types.hpp>
#include <cleave/step.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

/// The frame of a loop, and the parts that were given of it.
namespace cleave::detail {

/// Where the share begins that is given of what remains of a loop, which is more than the current
/// iteration: of two shares the half without that iteration, rounded up; of one share all but it.
/// The owner is `ahead` by so many iterations of whoever gets the share: those are not shared.
template <std::integral Int>
Int begin_of_share(Int current, Int end, unsigned shares, std::uint64_t ahead = 0) noexcept {
  const auto left = remaining(current, end);
  const auto shared = ahead < left ? static_cast<decltype(left)>(left - ahead) : left;
  const auto part = std::clamp<decltype(left)>(shared / shares, 1, left - 1);
  return static_cast<Int>(end - static_cast<Int>(part));
}

/// The frame of a loop: iterations after `current` and before `end` can still be given away. The
/// owner alone changes current, a split (which the owner makes too) alone lowers end.
template <std::integral Int, class Make>
struct loop_frame : work_frame {
  using work_type = std::remove_cvref_t<std::invoke_result_t<Make&, Int, Int>>;
  using given_task = task_of<work_type>;

  [[gnu::always_inline]] loop_frame(frame* out, Int last, Make& m) : end(last), make(&m) {
    begin_frame(*this, out, type);
  }

  static division splittable(const frame& f) noexcept {
    auto& self = static_cast<const loop_frame&>(f);
    return remaining(self.current, self.end) > 1 ? division::now : division::never;
  }
  static task* split(frame& f, unsigned shares) {
    auto& self = static_cast<loop_frame&>(f);
    return self.give_from(begin_of_share(self.current, self.end, shares));
  }
  /// Makes a task of the iterations from this one on.
  task* give_from(Int from) {
    auto* t = new given_task([&]() -> work_type { return (*make)(from, end); });
    t->before = was_given(*this) ? part : nullptr;
    end = from;
    tag |= given;
    return part = t;
  }
  static constexpr frame_type type{
      frame_role::work, wire_of<work_type>(),   &splittable, &split, nullptr,
      nullptr,          staying_of<work_type>()};

  Int current;  // where the owner is; valid whenever it polls
  Int end;
  Make* make;
};

/// Parts of a loop that are still to be taken in; abandons them if one of them, or the taking,
/// throws.
struct parts {
  task* last;
  ~parts() {
    if (last != nullptr) abandon(last);
  }

  /// Waits for the part given last, which is the next in program order. Throws what it threw.
  template <class Task>
  [[gnu::noinline, gnu::cold]] joined<Task> next() {
    return joined<Task>(std::exchange(last, last->before));
  }
};

/// Merges the results of all parts, in program order, onto the first of them. The function is cold,
/// and gets the address of no variable of the loop: passing an accumulator's address here would
/// keep it in memory for the whole loop.
template <class Task, class R, class Merge>
[[gnu::noinline, gnu::cold]] auto merge_parts(task* last, Merge merge) {
  parts rest{last};
  parts_total<R, typename Task::result_type> all =
      as_term<R>(std::move(rest.next<Task>().result()));
  while (rest.last != nullptr) merge(all, std::move(rest.next<Task>().result()));
  return all;
}

/// The end of every loop: take<Task>(last part), if a part was given away. A split lowers the end
/// of the loop, which is at hand: cheaper to test than the tag.
template <std::integral Int, class Frame, class Take>
[[gnu::always_inline]] inline void take_parts(Frame& rest, Int last, Take& take) {
  if (rest.end != last) [[unlikely]] {
    take.template operator()<typename Frame::given_task>(rest.part);
    here.innermost = rest.outer;
  }
}

}  // namespace cleave::detail
