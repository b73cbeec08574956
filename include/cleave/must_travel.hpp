#pragma once

#include <cleave/detail/travel/staying.hpp>
#include <cleave/task.hpp>

#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

template <stays_for why, unsigned argument>
struct required_to_travel {
  static_assert(why != stays_for::no_archive,
                "cleave::must_travel: nothing travels: the compiler found no headers of cereal, or "
                "CLEAVE_NO_CEREAL is defined");
  static_assert(why != stays_for::no_input,
                "cleave::must_travel: the task has no input(), which names the fields that travel: "
                "auto input() { return std::tie(...); }");
  static_assert(argument != 1, "cleave::must_travel: argument 1 of the call cannot be serialized");
  static_assert(argument != 2, "cleave::must_travel: argument 2 of the call cannot be serialized");
  static_assert(argument != 3, "cleave::must_travel: argument 3 of the call cannot be serialized");
  static_assert(argument != 4, "cleave::must_travel: argument 4 of the call cannot be serialized");
  static_assert(argument != 5, "cleave::must_travel: argument 5 of the call cannot be serialized");
  static_assert(argument != 6, "cleave::must_travel: argument 6 of the call cannot be serialized");
  static_assert(argument <= 6,
                "cleave::must_travel: an argument behind the sixth of the call cannot be "
                "serialized");
  static_assert(why != stays_for::result,
                "cleave::must_travel: the result of the call cannot be serialized");
  static constexpr bool holds = true;
};

template <class Work>
constexpr bool travels_as_required() {
  if constexpr (!cleave::task<Work>) {
    static_assert(cleave::task<Work>,
                  "cleave::must_travel: this is no task, and never leaves its process: give a "
                  "struct with run() and input(), or cleave::call<f>(...)");
  } else if constexpr (required_to_travel<why_it_stays<Work>(), staying_argument<Work>()>::holds) {
    return wire_of<Work>() != nullptr;  // which checks the fields of the task
  }
  return false;
}

}  // namespace detail

/// Returns the task, and does not compile if it cannot leave its process: `both([=] { return
/// fib(n - 1); }, must_travel(call<fib>(n - 2)))`. Without it such a task compiles, and is only
/// ever given to another worker of the same process.
template <class Task>
[[gnu::always_inline]] constexpr auto must_travel(Task&& task) {
  [[maybe_unused]] constexpr bool checked =
      detail::travels_as_required<std::remove_cvref_t<Task>>();
  return std::remove_cvref_t<Task>(std::forward<Task>(task));
}

}  // namespace cleave
