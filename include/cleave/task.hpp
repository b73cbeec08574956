#pragma once

#include <type_traits>

namespace cleave {

/// What a call that returns nothing contributes to the pair that `both` returns.
struct nothing {
  friend bool operator==(nothing, nothing) = default;
};

/// A piece of work that can be given away: a struct that holds its input and has `R run()`. What
/// run() returns is the task's result. A task must have no other effect than its result and what it
/// offers to a cleave::shared value: it may be run on another thread, in another copy, and at another time.
template <class T>
concept task = std::is_class_v<std::remove_cvref_t<T>> && requires(std::remove_cvref_t<T>& t) {
  t.run();
};

/// A task that names its fields with `auto input() { return std::tie(...); }`, so that it may also
/// leave the process. One without input() is only ever given to another worker of the same process.
template <class T>
concept portable_task = task<T> && requires(std::remove_cvref_t<T>& t) {
  t.input();
};

}  // namespace cleave
