#pragma once

#include <type_traits>

namespace cleave {

/// What a call that returns nothing contributes to the pair that `both` returns.
struct nothing {
  friend bool operator==(nothing, nothing) = default;
};

/// A piece of work that can be given away: a struct that holds its input and has `R run()`. What
/// run() returns is the task's result. A task must have no other effect than its result and what it
/// offers to a cleave::shared value: it may be run on another thread, in another copy, and at
/// another time.
template <class T>
concept task = std::is_class_v<std::remove_cvref_t<T>> && requires(std::remove_cvref_t<T>& t) {
  t.run();
};

/// A task that names its fields with `auto input() { return std::tie(...); }`, so that it may also
/// leave the process. One without input() is only ever given to another worker of the same process.
///
/// A field travels, and so does a result, if it is a number (but no long double), an enum, an
/// array, an aggregate of at most 16 members that travel, a string, pair, tuple, optional, variant
/// or container of the standard library (no forward_list and no adaptor), a published<T>, a
/// shared_ref<S>, or if it has `auto fields() { return std::tie(...); }` or cereal's serialize().
/// It needs a default
/// constructor. Others, and pointers, do not compile. What input() does not name begins anew on
/// the other node. Without cereal's headers nothing travels, and all else is the same.
template <class T>
concept portable_task = task<T> && requires(std::remove_cvref_t<T>& t) {
  t.input();
};

}  // namespace cleave
