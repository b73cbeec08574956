#pragma once

#include <cleave/detail/set_while.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/gathered.hpp>
#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cleave {

/// When a node tells others of the updates that it has made of a gathered variable.
class telling {
public:
  /// Each at once.
  static constexpr telling one_by_one() noexcept { return {1, 0}; }
  /// n together; n of at least 1.
  static constexpr telling together(std::size_t n) noexcept { return {n, 0}; }
  /// n together at first, and half as many each time: the last ones at once.
  static constexpr telling halving(std::size_t n) noexcept { return {n, -1}; }
  /// The first one at once, and twice as many together each time.
  static constexpr telling doubling() noexcept { return {1, 1}; }

private:
  template <class T, class Update>
  friend class gathered;
  constexpr telling(std::size_t n, int grows) noexcept : due_(n == 0 ? 1 : n), grows_(grows) {}
  void told() noexcept {
    if (grows_ < 0) due_ = (std::max)(due_ / 2, std::size_t{1});
    if (grows_ > 0) due_ *= 2;
  }
  std::size_t due_;
  int grows_;
};

namespace detail {

template <class F>
struct update_call;
template <class Update, class R, class T, class A>
struct update_call<R (Update::*)(T&, A) const> {
  using value = T;
  using argument = std::remove_cvref_t<A>;
  using result = R;
};
template <class Update, class R, class T, class A>
struct update_call<R (Update::*)(T&, A) const noexcept> : update_call<R (Update::*)(T&, A) const> {
};

/// A function object `R operator()(T&, A) const`.
template <class Update, class T>
concept update_of = std::is_default_constructible_v<Update> && requires {
  typename update_call<decltype(&Update::operator())>::argument;
  requires std::is_same_v<typename update_call<decltype(&Update::operator())>::value, T>;
};

template <class Update>
constexpr bool commutes() {
  if constexpr (requires { Update::commutative; }) return Update::commutative;
  else return false;
}
template <class Update>
constexpr bool may_be_repeated() {
  if constexpr (requires { Update::idempotent; }) return Update::idempotent;
  else return false;
}

}  // namespace detail

template <class Gathered>
class gathered_ref;

/// A variable of any type that all nodes have, and that changes on all of them by updates: a set of
/// solutions, a table, a histogram. `Update` is a function object, `R operator()(T& value, const A&
/// argument) const`; update(argument) applies it here and on all other nodes. Source: Okuno,
/// workstation cluster, section 4.4.7.
///
///     struct add_tour {
///       static constexpr bool commutative = true;
///       bool operator()(std::set<tour>& all, const tour& t) const { return all.insert(t).second; }
///     };
///     cleave::gathered<std::set<tour>, add_tour> tours;
///
/// The node that makes the variable is its home, and puts all updates in one order. What Update
/// declares decides how they travel:
///
/// - `commutative = true`: the order makes no difference. An update is seen at once where it was
///   made. Without that each node applies all of them in the home's order, its own ones too, some
///   time after update() has returned.
/// - `idempotent = true`, of what is commutative, too: an update that is made twice means the same
///   as once. It returns a bool: whether the value has changed. Others are not told of one that
///   changes nothing, as they have, or get, what makes it so.
/// - `static void combine(A& a, const A& b)`: a, then b, is one update. Those that leave together
///   are combined into one.
///
/// Each update is applied once on each node, and those of a node in their order. All updates that a
/// task has made are seen by whoever waited for the task. A task that runs again, since its node
/// was lost, makes its updates again: those that are not idempotent may count twice.
///
/// Updates come in when somebody calls update(), read(), get() or settle(); not otherwise. All
/// functions may be called by any thread of the program; not in a
/// closure of a step, as they may wait for other nodes. An Update that throws must not have changed
/// the value. The variable of static storage of all nodes is one; another one is meant by other
/// tasks through a gathered_ref.
template <class T, class Update>
class gathered final : detail::gathered_base {
  static_assert(detail::update_of<Update, T>,
                "Update must be a function object: R operator()(T&, const A&) const");
  using call = detail::update_call<decltype(&Update::operator())>;
  static constexpr bool is_commutative = detail::commutes<Update>();
  static constexpr bool is_idempotent = detail::may_be_repeated<Update>();
  static_assert(!is_idempotent || (is_commutative && std::is_same_v<typename call::result, bool>),
                "cleave: an idempotent Update is commutative, too, and returns a bool: whether it "
                "has changed the value");

public:
  using argument = typename call::argument;
  /// What update() returns: for an Update that is not commutative nothing.
  using result = std::conditional_t<is_commutative, typename call::result, void>;
  static constexpr bool travels = detail::can_travel<T>() && detail::can_travel<argument>();

  /// `file` and `line` are for the compiler to fill in: where the variable is made.
  explicit gathered(T initial = T(), telling when = telling::one_by_one(),
                    const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : gathered_base(is_commutative), value_(std::move(initial)), when_(when) {
    if constexpr (travels) know_if_static(type, typeid(gathered), file, line);
  }
  ~gathered() override { forget(); }

  /// Applies Update to the value with this argument, here and on all other nodes. Throws what
  /// Update throws; then nothing has changed. Waits for another node only where read() does.
  result update(const argument& with) {
    std::unique_lock lock(mutex_);
    be_current(lock);
    if (!gathered_base::travels()) {
      note_change();
      return static_cast<result>(Update{}(value_, with));
    }
    if constexpr (!is_commutative) {
      add(with);
    } else if constexpr (std::is_void_v<result>) {
      Update{}(value_, with);
      add(with);
    } else {
      result r = Update{}(value_, with);
      if constexpr (is_idempotent) {
        if (!r) return r;
      }
      add(with);
      return r;
    }
  }

  /// Returns what f(const T&) returns, for the value with all updates that have come. No update is
  /// applied meanwhile, so f should be short, and must not use the variable. Waits for the value
  /// where a task that came from another node uses the variable first, or where what that task's
  /// giver knew has not come yet; serves requests meanwhile. Throws std::runtime_error if the home
  /// is gone.
  template <class F>
  decltype(auto) read(F f) const {
    std::unique_lock lock(mutex_);
    be_current(lock);
    return f(value_);
  }
  /// A copy of the value.
  T get() const {
    return read([](const T& value) { return value; });
  }
  /// Whether the next read() may find something new. One relaxed load.
  bool has_news() const noexcept { return gathered_base::has_news(); }

  /// Tells of all updates that were made here, and waits until the home has put them in order and
  /// they are applied here; serves requests meanwhile.
  void settle() {
    std::unique_lock lock(mutex_);
    gathered_base::settle(lock);
  }

private:
  friend class gathered_ref<gathered>;

  static std::uint64_t layout() {
    detail::name_hash h;
    if constexpr (travels) detail::add_layout<gathered_ref<gathered>>(h);
    return h.value();
  }
  static std::shared_ptr<gathered_base> make() {
    if constexpr (travels && std::is_default_constructible_v<T>) {
      auto made = std::make_shared<gathered>();
      return {made, static_cast<gathered_base*>(made.get())};
    } else {
      return nullptr;
    }
  }
  static inline const detail::gathered_type type{typeid(gathered), layout(), &make};

  void add(const argument& with) {
    tell(
        [&](std::size_t sealed) {
          if constexpr (requires(argument & a) { Update::combine(a, with); }) {
            if (untold_.size() > sealed) return Update::combine(untold_.back(), with);
          }
          untold_.push_back(with);
        },
        when_.due_);
  }

  void apply(detail::byte_reader& r) override {
    argument with{};
    if constexpr (travels) detail::get_value(r, with);
    r.expect_end();
    static_cast<void>(Update{}(value_, with));
  }
  void put(detail::byte_writer& w) const override {
    if constexpr (travels) detail::put_value(w, value_);
  }
  void get(detail::byte_reader& r) override {
    T value{};
    if constexpr (travels) detail::get_value(r, value);
    r.expect_end();
    value_ = std::move(value);
  }
  void apply_untold() override {
    for (const argument& with : untold_) static_cast<void>(Update{}(value_, with));
  }
  std::size_t untold() const noexcept override { return untold_.size(); }
  std::vector<std::vector<std::byte>> take_untold() override {
    std::vector<std::vector<std::byte>> all;
    for (const argument& with : untold_) {
      detail::byte_writer w(all.emplace_back());
      const detail::set_while outlives(detail::takes_data_along);
      if constexpr (travels) detail::put_value(w, with);
    }
    if (!untold_.empty()) when_.told();
    untold_.clear();
    return all;
  }

  T value_;
  std::vector<argument> untold_;  // with the traffic's mutex
  telling when_;                  // with it, too
};

/// Means a gathered variable in a task that may leave the process: `gathered_ref all = tours;`,
/// then `all->update(t)`. It is like a pointer. On another node it means that node's replica. Any
/// thread; must not outlive what it means, as a pointer must not.
template <class Gathered>
class gathered_ref {
public:
  static constexpr bool travels = Gathered::travels;

  /// Means nothing, until it is assigned to.
  gathered_ref() noexcept = default;
  /*implicit*/ gathered_ref(Gathered& g) noexcept : meant_(std::shared_ptr<void>(), &g) {}

  Gathered& operator*() const noexcept { return *meant_; }
  Gathered* operator->() const noexcept { return meant_.get(); }

  /// put() and get() are for archives.
  void put(detail::byte_writer& w) const requires travels {
    w.put(meant_ != nullptr);
    if (meant_) detail::put_name(w, w.node().gathered().know(*meant_, Gathered::type));
  }
  void get(detail::byte_reader& r) requires travels {
    meant_ = nullptr;
    if (!r.get<bool>()) return;
    const auto found = r.node().gathered().meet(detail::get_name(r), Gathered::type);
    meant_ = std::shared_ptr<Gathered>(found, static_cast<Gathered*>(found.get()));
  }

private:
  std::shared_ptr<Gathered> meant_;
};

#if CLEAVE_HAVE_CEREAL
template <class T, class Update>
struct detail::parts_of<gathered_ref<gathered<T, Update>>> {
  using type = std::tuple<T, typename detail::update_call<decltype(&Update::operator())>::argument>;
};
#endif

}  // namespace cleave
