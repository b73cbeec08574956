#pragma once

#include <cleave/detail/division/cutoff.hpp>
#include <cleave/detail/division/refused.hpp>
#include <cleave/detail/division/requirements.hpp>
#include <cleave/detail/division/total.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/staying.hpp>
#include <cleave/detail/travel/types.hpp>

#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// The second branch in the three forms of `both`: run() it here, or make() a task of it.
template <class G>
struct second_closure {
  G g;
  decltype(auto) run() { return g(); }
  auto make() { return closure_task<G>{std::move_if_noexcept(g)}; }
};
template <class T>
struct second_task {
  T t;
  decltype(auto) run() { return t.run(); }
  T make() { return std::move_if_noexcept(t); }
};
template <class G, class Put>
struct second_in_place {
  G g;
  Put put;
  decltype(auto) run() { return g(); }
  auto make() { return put(); }
};

/// The frame of a `both` whose second branch has not begun.
template <class Second>
struct branch_frame : work_frame {
  using work_type = std::remove_cvref_t<decltype(std::declval<Second&>().make())>;
  using given_task = task_of<work_type>;

  [[gnu::always_inline]] branch_frame(frame* out, Second& s) : second(&s) {
    begin_frame(*this, out, type);
  }

  static division splittable(const frame& f) noexcept {
    return was_given(f) ? division::never : division::now;
  }
  static task* split(frame& f, unsigned) {
    auto& self = static_cast<branch_frame&>(f);
    auto* t = new given_task([&self]() -> work_type { return self.second->make(); });
    self.tag |= given;
    return self.part = t;
  }
  static constexpr frame_type type{
      frame_role::work, wire_of<work_type>(),   &splittable, &split, nullptr,
      nullptr,          staying_of<work_type>()};

  Second* second;
};

/// Waits for the second branch and hands out its result.
template <class Task>
[[gnu::noinline, gnu::cold]] auto collect(task* t) {
  return std::move(joined<Task>(t).result());
}

template <class F>
[[gnu::always_inline]] inline auto run_first(F& f, work_frame& branch, frame* outer) {
  leave left{branch, outer};
  enter(branch);
  auto result = value(f);
  left.by_exception = false;
  return result;
}

template <class F, class Second>
using results_of = std::pair<value_of<std::invoke_result_t<F&>>,
                             value_of<decltype(std::declval<Second&>().run())>>;

template <class F, class Second>
[[gnu::always_inline]] inline results_of<F, Second> divisible_both(F& f, Second& second) {
  using frame_of = branch_frame<Second>;
  static_assert(keeps_digits<value_of<typename frame_of::given_task::result_type>,
                             value_of<decltype(second.run())>>,
                "what put's task returns does not fit into what the second branch returns");
  const std::uintptr_t at = here.construct;
  frame* const outer = here.innermost;
  frame_of branch(outer, second);
  auto x = run_first(f, branch, outer);
  if (was_given(branch)) [[unlikely]]
    // A split sets both the tag and the part. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
    return {std::move(x), collect<typename frame_of::given_task>(branch.part)};
  if (rung_signals() != 0) [[unlikely]]
    answer(at);
  return {std::move(x), value_of_run(second)};
}

/// Two branches that return nothing make a statement.
template <class F, class Second>
inline constexpr bool makes_statement =
    std::is_same_v<results_of<F, Second>, std::pair<nothing, nothing>>;

/// The slow side of `both`. Its fast side stands in each form: through a function in between GCC
/// makes worse code of a recursion (fib took a tenth longer).
template <class F, class Second>
[[gnu::always_inline]] inline auto divided_both(F& f, Second second) {
  auto divided = [](auto& a, auto& b) { return divisible_both(a, b); };
  if constexpr (makes_statement<F, Second>) divisible(divided, f, second);
  else return divisible(divided, f, second);
}

}  // namespace detail

/// Runs f and g, which may run at the same time: `auto [x, y] = both(f, g)`. f runs now, here; g
/// runs here after it, unless a thief asked meanwhile, who is then given g. Both capture BY VALUE:
/// g is copied out of this frame. A branch that returns nothing gives cleave::nothing; two of them
/// make a statement. One that returns a reference gives a copy of what that refers to, which may
/// end with the branch where it ran.
///
/// Calls too short to be worth dividing, a few microseconds, run as plain calls; each worker learns
/// where they are. Throws what f threw (then g does not run, or is cancelled), else what g threw.
/// Blocks only if g was given away and is not done; helps with parts of g meanwhile.
/// Source: Tascell's do_two.
template <class F, class G>
  requires(!task<G> && detail::both_refusal<F, G>() == detail::refusal::none)
[[gnu::always_inline]] inline auto both(F f, G g) {
  using second = detail::second_closure<G>;
  if (!detail::beyond_cutoff()) [[unlikely]]
    return detail::divided_both(f, second{std::move(g)});
  [[maybe_unused]] auto x = detail::value(f);
  [[maybe_unused]] auto y = detail::value(g);
  if constexpr (!detail::makes_statement<F, second>)
    return detail::results_of<F, second>(std::move(x), std::move(y));
}

/// Runs f and a task as `both` does two closures; the task may also leave the process. Of a struct
/// with run() and operator() it is run() that counts, here and wherever it is given to.
template <class F, task T>
  requires(detail::both_refusal<F, T>() == detail::refusal::none)
[[gnu::always_inline]] inline auto both(F f, T task) {
  using second = detail::second_task<T>;
  if (!detail::beyond_cutoff()) [[unlikely]]
    return detail::divided_both(f, second{std::move(task)});
  [[maybe_unused]] auto x = detail::value(f);
  [[maybe_unused]] auto y = detail::value_of_run(task);
  if constexpr (!detail::makes_statement<F, second>)
    return detail::results_of<F, second>(std::move(x), std::move(y));
}

/// Runs f and g as `both` does; g runs in place, in a workspace it shares with f, and put() makes a
/// task from that workspace only when a thief asks. put is called with all steps undone that f
/// made.
template <class F, class G, class Put>
  requires(detail::both_with_put_refusal<F, G, Put>() == detail::refusal::none)
[[gnu::always_inline]] inline auto both(F f, G g, Put put) {
  using second = detail::second_in_place<G, Put>;
  if (!detail::beyond_cutoff()) [[unlikely]]
    return detail::divided_both(f, second{std::move(g), std::move(put)});
  [[maybe_unused]] auto x = detail::value(f);
  [[maybe_unused]] auto y = detail::value(g);
  if constexpr (!detail::makes_statement<F, second>)
    return detail::results_of<F, second>(std::move(x), std::move(y));
}

}  // namespace cleave
