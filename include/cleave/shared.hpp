#pragma once

#include <cleave/detail/set_while.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/replicas.hpp>
#include <cleave/detail/travel/types.hpp>

#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace cleave {

/// Merge functions: of two values the better one.
struct max {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct min {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

template <class Shared>
class shared_ref;

namespace detail {

/// What a shared value is on its way: bound and witness are one.
template <class T, class Witness>
struct shared_state {
  T value;
  std::optional<Witness> witness;
};
template <class T>
struct shared_state<T, void> {
  T value;
};

/// Whether value and witness can be serialized.
template <class T, class Witness>
constexpr bool shared_travels() {
  if constexpr (std::is_void_v<Witness>) {
    return can_travel<T>();
  } else {
    return can_travel<T>() && can_travel<Witness>();
  }
}

/// How values of the type Shared travel.
template <class Shared>
struct shared_functions {
  using state = typename Shared::state;

  static void put(const shared_base& s, byte_writer& w) {
    const state now = static_cast<const Shared&>(s).now();
    const set_while outlives(takes_data_along);
    put_value(w, now.value);
    if constexpr (requires { now.witness; }) put_value(w, now.witness);
  }
  static state get(byte_reader& r) {
    state arrived{};
    get_value(r, arrived.value);
    if constexpr (requires { arrived.witness; }) get_value(r, arrived.witness);
    r.expect_end();
    return arrived;
  }
  static bool merge(shared_base& s, byte_reader& r) {
    return static_cast<Shared&>(s).adopt(get(r));
  }
  static std::shared_ptr<shared_base> make(byte_reader& r) {
    const state arrived = get(r);
    auto made = std::make_shared<Shared>(arrived.value);
    made->begin(arrived);
    return {made, static_cast<shared_base*>(made.get())};
  }
  static shared_type::functions all() {
    if constexpr (Shared::travels) return {&put, &merge, &make};
    else return shared_type::of_no_form;
  }
  static std::uint64_t layout() {
    name_hash h;
    if constexpr (Shared::travels) add_layout<shared_ref<Shared>>(h);
    return h.value();
  }
  static inline const shared_type type{typeid(Shared), layout(), all()};
};

}  // namespace detail

/// A value that all workers share and that only improves: the bound of a branch and bound search,
/// with a witness of it if Witness is given (a tour, a clique). Merge(a, b) returns the better of
/// two values; it must be commutative, associative and idempotent. T is a trivially copyable type
/// that fits in one lock-free atomic.
///
/// All functions may be called by any thread. What get() returns may be old, never wrong: it
/// was the best at some moment, and later calls of one thread never go back.
///
/// Over several nodes each has a replica of it, which others improve in the background; with a
/// task's result comes at least what the task had read or offered. A variable of static storage is
/// the same on all nodes. One that a task made is meant by other tasks through a shared_ref, which
/// travels.
template <class T, class Merge = max, class Witness = void>
class shared : detail::shared_base {
  static_assert(std::atomic<T>::is_always_lock_free,
                "a shared value must fit in one lock-free atomic word");

public:
  static constexpr bool travels = detail::shared_travels<T, Witness>();

  /// `file` and `line` are for the compiler to fill in: where the variable is made.
  explicit shared(T initial, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) noexcept
      : value_(initial) {
    know_if_static(functions::type, typeid(shared), file, line);
  }
  ~shared() { forget(); }

  /// The value, by one relaxed load.
  T get() const noexcept { return value_.load(std::memory_order_relaxed); }

  /// Merges v in; true if that improved the value. Lock-free if it did not, or if the value neither
  /// has travelled nor is of static storage.
  bool offer(T v) noexcept requires std::is_void_v<Witness> {
    if (!adopt({v})) return false;
    improved();
    return true;
  }

private:
  using functions = detail::shared_functions<shared>;
  using state = detail::shared_state<T, void>;
  friend functions;
  friend class shared_ref<shared>;

  state now() const noexcept { return {get()}; }
  void begin(const state&) noexcept {}
  bool adopt(state s) noexcept {
    T old = get();
    for (;;) {
      const T merged = Merge{}(old, s.value);
      if (merged == old) return false;
      if (value_.compare_exchange_weak(old, merged, std::memory_order_relaxed)) return true;
    }
  }

  std::atomic<T> value_;
};

/// A shared value with a witness: bound and witness are one value, replaced together. Blocks only
/// while another improves it.
template <class T, class Merge, class Witness>
  requires(!std::is_void_v<Witness>)
class shared<T, Merge, Witness> : detail::shared_base {
  static_assert(std::atomic<T>::is_always_lock_free,
                "a shared value must fit in one lock-free atomic word");

public:
  static constexpr bool travels = detail::shared_travels<T, Witness>();

  explicit shared(T initial, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) noexcept
      : value_(initial) {
    know_if_static(functions::type, typeid(shared), file, line);
  }
  ~shared() { forget(); }

  T get() const noexcept { return value_.load(std::memory_order_relaxed); }

  /// Merges v in; keeps a copy of w and returns true if that improved the value. The value is
  /// stored under the lock, so that no better bound is ever seen with an older witness.
  bool offer(T v, const Witness& w) {
    if (Merge{}(get(), v) == get()) return false;
    std::optional<Witness> fresh(w);  // a copy that throws changes nothing
    if (!replace(v, [&fresh](auto& to) { to.swap(fresh); })) return false;
    improved();
    return true;
  }

  /// The best value with a copy of its witness; no witness if none was ever offered.
  std::pair<T, std::optional<Witness>> best() const {
    std::lock_guard lock(mutex_);
    return {get(), witness_};
  }

private:
  using functions = detail::shared_functions<shared>;
  using state = detail::shared_state<T, Witness>;
  friend functions;
  friend class shared_ref<shared>;

  template <class Set>
  bool replace(T v, Set set_witness) {
    if (Merge{}(get(), v) == get()) return false;
    std::lock_guard lock(mutex_);
    const T old = get();
    const T merged = Merge{}(old, v);
    if (merged == old) return false;
    set_witness(witness_);
    value_.store(merged, std::memory_order_relaxed);
    return true;
  }
  state now() const {
    std::lock_guard lock(mutex_);
    return {get(), witness_};
  }
  void begin(const state& s) { witness_ = s.witness; }
  bool adopt(state s) {
    return replace(s.value, [&s](auto& to) { to = std::move(s.witness); });
  }

  std::atomic<T> value_;
  mutable std::mutex mutex_;
  std::optional<Witness> witness_;
};

/// Means a shared value in a task that may leave the process: `shared_ref best = bound;`, then
/// `best->get()`, `best->offer(x)`. It is like a pointer. On another node it means that node's
/// replica, which begins with the value that the task left with.
/// Any thread; must not outlive what it means, as a pointer must not.
template <class Shared>
class shared_ref {
public:
  static constexpr bool travels = Shared::travels;

  /// Means nothing, until it is assigned to.
  shared_ref() noexcept = default;
  /*implicit*/ shared_ref(Shared& s) noexcept : meant_(std::shared_ptr<void>(), &s) {}

  Shared& operator*() const noexcept { return *meant_; }
  Shared* operator->() const noexcept { return meant_.get(); }

  /// put() and get() are for archives.
  void put(detail::byte_writer& w) const requires travels {
    w.put(meant_ != nullptr);
    if (!meant_) return;
    detail::put_name(w, w.node().know(*meant_, functions::type));
    w.put_block([&] { functions::put(*meant_, w); });
  }
  void get(detail::byte_reader& r) requires travels {
    meant_ = nullptr;
    if (!r.get<bool>()) return;
    const auto name = detail::get_name(r);
    auto value = r.get_block();
    const auto found = r.node().merge(name, functions::type, value);
    meant_ = std::shared_ptr<Shared>(found, static_cast<Shared*>(found.get()));
  }

private:
  using functions = detail::shared_functions<Shared>;
  std::shared_ptr<Shared> meant_;
};

#if CLEAVE_HAVE_CEREAL
template <class T, class Merge, class Witness>
struct detail::parts_of<shared_ref<shared<T, Merge, Witness>>> {
  using type = std::conditional_t<std::is_void_v<Witness>, std::tuple<T>, std::tuple<T, Witness>>;
};
#endif

}  // namespace cleave
