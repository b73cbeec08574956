#pragma once

#include <cleave/detail/task.hpp>

#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// The frame of a `both` whose second branch has not begun. Make turns it into a task.
template <class Make>
struct branch_frame : work_frame {
  using work_type = std::remove_cvref_t<std::invoke_result_t<Make&>>;
  using given_task = task_of<work_type>;

  CLEAVE_HOT branch_frame(frame* out, Make& m) : make(m) {
    outer = out;
    tag = fresh(type);
  }

  static bool splittable(const frame& f) noexcept { return (f.tag & given) == 0; }
  static task* split(frame& f) {
    auto& self = static_cast<branch_frame&>(f);
    auto* t = new given_task(self.make.get()());
    self.tag |= given;
    return self.part = t;
  }
  static constexpr frame_type type{
      frame_role::work, portable_task<work_type>, &splittable, &split, nullptr, nullptr};

  kept<Make> make;
};

/// Waits for the second branch and hands out its result.
template <class Task>
CLEAVE_COLD auto collect(task* t) {
  return std::move(*joined<Task>(t)->result);
}

template <class F>
CLEAVE_HOT auto run_first(F& f, work_frame& branch, frame* outer) {
  leave left{branch, outer};
  enter(branch);
  auto result = value(f);
  left.by_exception = false;
  return result;
}

template <class F, class G, class Make>
CLEAVE_HOT auto branches(F& f, G& second, Make& make) {
  using first_type = value_of<std::invoke_result_t<F&>>;
  using second_type = value_of<std::invoke_result_t<G&>>;
  using pair = std::pair<first_type, second_type>;
  using frame_of = branch_frame<Make>;

  frame* const outer = here.innermost;
  frame_of branch(outer, make);
  first_type x = run_first(f, branch, outer);
  if (touched(branch, frame_of::type) && was_given(branch)) [[unlikely]] {
    second_type y = collect<typename frame_of::given_task>(branch.part);
    return pair(std::move(x), std::move(y));
  }
  return pair(std::move(x), value(second));
}

/// Two branches that return nothing make a statement.
template <class F, class S>
inline constexpr bool both_void = std::is_void_v<F>&& std::is_void_v<S>;

template <class F, class G, class Make>
CLEAVE_HOT auto statement_or_pair(F& f, G& second, Make& make) {
  if constexpr (both_void<std::invoke_result_t<F&>, std::invoke_result_t<G&>>) {
    branches(f, second, make);
  } else {
    return branches(f, second, make);
  }
}

}  // namespace detail

/// Runs f and g, which may run at the same time: `auto [x, y] = both(f, g)`. f runs now, here; g runs
/// here after it, unless a thief asked meanwhile, who is then given g. Both capture BY VALUE: g is copied out
/// of this frame. A branch that returns nothing gives cleave::nothing; two of them make a statement.
///
/// Throws what f threw (then g does not run, or is cancelled), else what g threw.
/// Blocks only if g was given away and is not done; helps with parts of g meanwhile.
/// Source: Tascell's do_two.
template <class F, class G>
requires std::is_invocable_v<G&> CLEAVE_HOT auto both(F f, G g) {
  if constexpr (detail::kept_by_value<G>) {
    auto make = [g] { return detail::closure_task<G>{g}; };
    return detail::statement_or_pair(f, g, make);
  } else {
    auto make = [&g] { return detail::closure_task<G>{std::move(g)}; };
    return detail::statement_or_pair(f, g, make);
  }
}

/// The same; the second branch is a task, which may also leave the process.
template <class F, task T>
  requires(!std::is_invocable_v<T&>)
CLEAVE_HOT auto both(F f, T second) {
  auto run = [&second] { return second.run(); };
  if constexpr (detail::kept_by_value<T>) {
    auto make = [second] { return second; };
    return detail::statement_or_pair(f, run, make);
  } else {
    auto make = [&second] { return std::move(second); };
    return detail::statement_or_pair(f, run, make);
  }
}

/// The same; g runs in place, in a workspace it shares with f, and put() makes a task from that workspace
/// only when a thief asks. put is called with all steps undone that f made.
template <class F, class G, class Put>
requires task<std::invoke_result_t<Put&>> CLEAVE_HOT auto both(F f, G g, Put put) {
  return detail::statement_or_pair(f, g, put);
}

}  // namespace cleave
