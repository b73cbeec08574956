#pragma once

#include <atomic>

namespace cleave::detail {

/// The types of one kind that this process has. Each enters itself before main, or when its library
/// is loaded, and stays. Any thread.
template <class Type>
class type_list {
public:
  /// Enters a type; the last thing that its constructor does. `next` is the type's own, which leads
  /// on from it.
  void enter(const Type& entered, const Type*& next) noexcept {
    next = newest_.load(std::memory_order_relaxed);
    // release: partner of first().
    while (!newest_.compare_exchange_weak(next, &entered, std::memory_order_release,
                                          std::memory_order_relaxed)) {}
  }
  // acquire: partner of enter().
  const Type* first() const noexcept { return newest_.load(std::memory_order_acquire); }
  /// The type that entered last of those for which is() returns true, or null.
  template <class Is>
  const Type* find(Is is) const noexcept {
    for (const Type* t = first(); t != nullptr; t = t->next())
      if (is(*t)) return t;
    return nullptr;
  }

private:
  std::atomic<const Type*> newest_{nullptr};
};

}  // namespace cleave::detail
