#pragma once

#include <cleave/detail/graph/graph.hpp>
#include <cleave/poll.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cleave {

class graph;

/// A datum of a graph, which lives as long as the graph. A handle: copies mean the same datum.
template <class T>
class datum {
public:
  /// Refers to nothing, until it is assigned to.
  datum() noexcept = default;

  /// The value. For the thread that made the graph, after wait() and before it runs the next
  /// subtask that uses the datum. In a team_graph it is there on the nodes that have it; on others
  /// this throws std::logic_error.
  T& operator*() const {
    if (!at_->place.is_here)
      throw std::logic_error(
          "cleave::datum: its value is on another node: team_graph::bring() brings it here");
    return *at_->value;
  }
  T* operator->() const { return &**this; }

private:
  friend class graph;
  friend class team_graph;
  struct node : detail::any_datum {
    T* value;
  };
  template <class Node>
  struct own : Node {
    template <class... A>
    explicit own(A&&... a) : object(std::forward<A>(a)...) {
      this->value = &object;
    }
    T object;
  };
  explicit datum(node& n) noexcept : at_(&n) {}
  node* at_ = nullptr;
};

/// A subtask of a graph: what others of the same graph can be told to come after. A handle.
class subtask {
public:
  /// Refers to no subtask, until it is assigned to: nothing comes after it.
  subtask() noexcept = default;

private:
  friend class graph;
  subtask(std::uint64_t of, detail::vertex_ref v) noexcept : graph_(of), vertex_(v) {}
  std::uint64_t graph_ = 0;  // a number that no other graph of the process has had
  detail::vertex_ref vertex_;
};

/// What a function gets for several data: their values, in the order in which they were given.
template <class T>
class values {
public:
  class iterator {
  public:
    using value_type = std::remove_const_t<T>;
    using difference_type = std::ptrdiff_t;
    iterator() noexcept = default;
    explicit iterator(T* const* at) noexcept : at_(at) {}
    T& operator*() const noexcept { return **at_; }
    T* operator->() const noexcept { return *at_; }
    iterator& operator++() noexcept { return ++at_, *this; }
    iterator operator++(int) noexcept { return iterator(at_++); }
    friend bool operator==(iterator, iterator) noexcept = default;

  private:
    T* const* at_ = nullptr;
  };

  explicit values(std::span<T* const> all) noexcept : all_(all) {}
  std::size_t size() const noexcept { return all_.size(); }
  T& operator[](std::size_t i) const noexcept { return *all_[i]; }
  iterator begin() const noexcept { return iterator(all_.data()); }
  iterator end() const noexcept { return iterator(all_.data() + all_.size()); }

private:
  std::span<T* const> all_;
};

/// How a subtask uses a datum, and what its function gets for it. Made by in(), out(), inout(),
/// add(); after() makes one that it gets nothing for.
template <class T, detail::access_mode Mode>
struct data_use {
  datum<T> of;
};
/// How a subtask uses several data.
template <class T, detail::access_mode Mode>
struct data_uses {
  std::span<const datum<T>> of;
};
namespace detail {
template <class T>
struct value_of_datum;
template <class T>
struct value_of_datum<datum<T>> {
  using type = T;
};
template <class R>
concept data_range =
    std::ranges::contiguous_range<const R> && std::ranges::sized_range<const R> && requires {
  typename value_of_datum<std::ranges::range_value_t<R>>::type;
};

template <access_mode Mode, data_range R>
auto use_all(const R& all) noexcept {
  using value = typename value_of_datum<std::ranges::range_value_t<R>>::type;
  return data_uses<value, Mode>{{std::ranges::data(all), std::ranges::size(all)}};
}
}  // namespace detail
struct precedence {
  subtask before;
};
struct placement {
  unsigned rank;
};

/// Says that a subtask reads a datum: the function gets a const T&.
template <class T>
data_use<T, detail::access_mode::in> in(datum<T> d) noexcept {
  return {d};
}
/// Says that a subtask writes a datum, whatever it was: the function gets a T&.
template <class T>
data_use<T, detail::access_mode::out> out(datum<T> d) noexcept {
  return {d};
}
/// Says that a subtask reads and writes a datum: the function gets a T&.
template <class T>
data_use<T, detail::access_mode::inout> inout(datum<T> d) noexcept {
  return {d};
}
/// Says that a subtask adds to a datum, or changes it in another way in which the order does not
/// matter: the function gets a T&. Subtasks that add to one datum run one at a time, in any order.
template <class T>
data_use<T, detail::access_mode::add> add(datum<T> d) noexcept {
  return {d};
}
/// These take several data at once, as a vector of them; run() keeps nothing of it. The function
/// gets values<const T> for in(), values<T> for the others.
template <detail::data_range R>
auto in(const R& all) noexcept {
  return detail::use_all<detail::access_mode::in>(all);
}
template <detail::data_range R>
auto out(const R& all) noexcept {
  return detail::use_all<detail::access_mode::out>(all);
}
template <detail::data_range R>
auto inout(const R& all) noexcept {
  return detail::use_all<detail::access_mode::inout>(all);
}
template <detail::data_range R>
auto add(const R& all) noexcept {
  return detail::use_all<detail::access_mode::add>(all);
}
/// Says that a subtask comes after another one, whatever they use.
inline precedence after(subtask s) noexcept { return {s}; }
/// Says that a subtask runs on that node of a team_graph. In other graphs it says nothing.
inline placement on(unsigned rank) noexcept { return {rank}; }

/// Subtasks that depend on each other by the data that they read and write:
///
///     graph g;
///     auto x = g.make(1.0), y = g.make(2.0), z = g.make<double>();
///     g.run([](double& a) { a += 1; }, inout(x));
///     g.run([](const double& a, const double& b, double& c) { c = a * b; }, in(x), in(y), out(z));
///     g.wait();                                   // *z is 4
///
/// The program says what it does in order, as if each run() were a call. A subtask runs as soon as
/// those before it are done that write what it reads or writes, or read what it writes; others run
/// meanwhile, or in another order.
///
/// A graph belongs to the thread that made it: only that one makes data, runs and waits. On a
/// worker of a runtime subtasks run on all workers, and may use every construct; on another thread
/// run() is the call itself. A subtask has no business with data that it does not name.
///
/// Source: Sekijima et al., Parsley (2000), section 2; dependences are inferred from accesses as in
/// OpenMP's `depend`.
class graph : detail::graph_scope {
public:
  graph() noexcept = default;

  /// Cancels if left by an exception, and waits. What a subtask threw is lost: call wait() to learn
  /// of it.
  ~graph() { end(std::uncaught_exceptions() > uncaught_); }

  /// A datum with this value.
  template <class T>
  datum<std::decay_t<T>> make(T&& value) {
    return make<std::decay_t<T>, T>(std::forward<T>(value));
  }
  /// A datum T(arguments…).
  template <class T, class... A>
  datum<T> make(A&&... arguments) {
    using node = typename datum<T>::node;
    require_no_team();
    return keep_datum<T>(std::unique_ptr<detail::any_datum>(
        new typename datum<T>::template own<node>(std::forward<A>(arguments)...)));
  }
  /// A datum that is `object`, which must live as long as the graph. Nobody else uses it until
  /// wait().
  template <class T>
  datum<T> refer(T& object) {
    require_no_team();
    auto* const made = new typename datum<T>::node;
    made->value = &object;
    return keep_datum<T>(std::unique_ptr<detail::any_datum>(made));
  }

  /// Calls f with the data, as soon as what they depend on is done. `uses`: in(), out(), inout(),
  /// add(), in the order of f's parameters, and after(). Does not wait, but may run other subtasks
  /// of the graph meanwhile.
  ///
  /// Polls, so it may throw if the graph's scope was cancelled. Throws std::logic_error on a thread
  /// that did not make the graph or in a subtask of it, and std::invalid_argument for a datum or a
  /// subtask that is not of this graph; std::bad_alloc, and what moving f throws: there is no such
  /// subtask then.
  template <class F, class... Uses>
    requires(!std::is_convertible_v<F, const char*>)
  subtask run(F f, const Uses&... uses) { return run(nullptr, std::move(f), uses...); }
  /// Does what run() without a name does. The name is for traces, and must live as long as the
  /// runtime.
  template <class F, class... Uses>
  subtask run(const char* name, F f, const Uses&... uses) {
    require_owner();
    (require_own(uses), ...);
    auto data = all_pointers(uses...);
    using call = call_of<F, decltype(data)>;
    static_assert(call::is_callable,
                  "cleave::graph::run: the function cannot be called with these data: in() gives "
                  "it a const T&, the others a T&");
    if constexpr (call::is_callable) {
      constexpr bool has_lists = (is_list<Uses> || ...);
      std::conditional_t<has_lists, std::vector<detail::datum_use>,
                         std::array<detail::datum_use, std::tuple_size_v<decltype(data)>>>
          of_data;
      if constexpr (has_lists) of_data.resize((count(uses) + ... + 0));
      std::array<detail::vertex_ref, (std::is_same_v<Uses, precedence> + ... + 0)> before;
      std::optional<unsigned> rank;
      [[maybe_unused]] listed to{of_data.data(), before.data(), &rank};
      (list(uses, to), ...);
      detail::vertex_ref elsewhere;
      const bool is_here = nodes == nullptr || place(name, of_data, before, rank, elsewhere);
      if (!is_here && (lends == nullptr || !keeps_functions())) return subtask(number_, elsewhere);
      try {
        std::unique_ptr<detail::subtask> made(new (is_here ? memory : memory_of_functions())
                                                  call(*this, std::move(f), std::move(data)));
        made->name = name;
        if (is_here) return subtask(number_, enter(std::move(made), of_data, before));
        keep_function(std::move(made));
        return subtask(number_, elsewhere);
      } catch (...) {
        not_made(of_data, before);
        throw;
      }
    }
  }

  /// Blocks until all subtasks are done, helping with them and with nothing else. Returns false if
  /// the graph was cancelled. Throws what the subtask did that is the first in program order of
  /// those that threw: what the program would have thrown if each run() were a call. Those after it
  /// have not run, or in vain. Throws std::logic_error as run() does.
  bool wait() {
    require_owner();
    refuse_in_replay("waits for nothing");
    return finish();
  }

  /// Does what a loop over `rounds` rounds does that calls make(round) in each, and is much cheaper
  /// where subtasks are short: what the subtasks of a round depend on is found out once.
  ///
  ///     g.repeat(steps, [&](std::uint64_t) {
  ///       for (std::size_t i = 1; i + 1 < x.size(); ++i)
  ///         g.run(next, in(x[i - 1]), in(x[i + 1]), inout(x[i]));
  ///     });
  ///
  /// All rounds make the same subtasks, that use the same data in the same way. make(round) is
  /// called for the first round at least, in ascending order; a function object that run() got then
  /// is called once for that round and once for each that follows until make is called again, one
  /// call after the other. Blocks until all rounds are done. make makes no data and does not wait.
  /// In a team_graph of several members all its subtasks are made in for_mine(), and it blocks
  /// until what this node does is done. Throws std::logic_error if that does not hold, and what
  /// make does: then nothing of these rounds has run.
  template <class Make>
  void repeat(std::uint64_t rounds, Make make) {
    require_owner();
    constexpr std::uint64_t few = 3;
    if (rounds < few || !begin_replay(rounds)) {
      for (std::uint64_t round = 0; round < rounds; ++round) make(round);
      return;
    }
    try {
      make(std::uint64_t{0});
    } catch (...) {
      drop_replay();
      throw;
    }
    run_replay();
  }

  /// From now on, of the subtasks that can begin on a node, the earliest in program order begins
  /// first; else the newest does, whose data are in a cache. So the program says what is urgent by
  /// when it says it: the longest path of subtasks that wait for each other. Throws
  /// std::logic_error as run() does.
  void earliest_first() {
    require_owner();
    order_ready();
  }

  /// Drops the subtasks not begun and makes the others unwind at their next poll. Any thread.
  void cancel() noexcept { cancel_all(); }

private:
  friend class team_graph;
  /// Where the values of several data are.
  template <class V>
  using pointer_list = std::vector<V*>;
  template <class V>
  static V& value_at(V* at) noexcept {
    return *at;
  }
  template <class V>
  static values<V> value_at(const pointer_list<V>& all) noexcept {
    return values<V>(all);
  }

  template <class V, class Next>
  static void point_to(V*& at, Next& next) noexcept {
    at = static_cast<typename datum<std::remove_const_t<V>>::node*>(*next++)->value;
  }
  template <class V, class Next>
  static void point_to(pointer_list<V>& all, Next& next) noexcept {
    for (V*& at : all) point_to(at, next);
  }

  /// What calls with the same data have in common.
  template <class... At>
  struct call_data : detail::subtask {
    call_data(graph_scope& g, std::tuple<At...>&& its) : subtask(g), data(std::move(its)) {}
    void use_instead([[maybe_unused]] std::span<detail::any_datum* const> those) noexcept override {
      [[maybe_unused]] auto next = those.begin();
      std::apply([&](At&... at) { (point_to(at, next), ...); }, data);
    }
    std::tuple<At...> data;
  };
  template <class F, class Data>
  struct call_of;
  template <class F, class... At>
  struct call_of<F, std::tuple<At...>> final : call_data<At...> {
    static_assert(alignof(F) <= alignof(std::max_align_t),
                  "cleave::graph::run: the function object needs too large an alignment");
    static constexpr bool is_callable =
        std::is_invocable_v<F&, decltype(value_at(std::declval<const At&>()))...>;
    call_of(graph_scope& g, F&& function, std::tuple<At...>&& its)
        : call_data<At...>(g, std::move(its)), f(std::move(function)) {}
    void call() override { call_with(std::index_sequence_for<At...>()); }
    template <std::size_t... Index>
    void call_with(std::index_sequence<Index...>) {
      std::invoke(f, value_at(std::as_const(std::get<Index>(this->data)))...);
    }
    F f;
  };

  /// `made` is a datum<T>::node.
  template <class T>
  datum<T> keep_datum(std::unique_ptr<detail::any_datum> made) {
    require_owner();
    refuse_in_replay("makes no datum");
    auto& node = static_cast<typename datum<T>::node&>(*made);
    node.graph = this;
    data_.push_back(std::move(made));
    return datum<T>(node);
  }

  template <class T, detail::access_mode Mode>
  using value_of = std::conditional_t<Mode == detail::access_mode::in, const T, T>;
  template <class T, detail::access_mode Mode>
  static auto pointers(const data_use<T, Mode>& a) noexcept {
    return std::tuple<value_of<T, Mode>*>(a.of.at_->value);
  }
  template <class T, detail::access_mode Mode>
  static auto pointers(const data_uses<T, Mode>& all) {
    pointer_list<value_of<T, Mode>> list;
    list.reserve(all.of.size());
    for (const datum<T>& each : all.of) list.push_back(each.at_->value);
    return std::tuple<pointer_list<value_of<T, Mode>>>(std::move(list));
  }
  static std::tuple<> pointers(const precedence&) noexcept { return {}; }
  static std::tuple<> pointers(const placement&) noexcept { return {}; }
  template <class... Uses>
  static auto all_pointers(const Uses&... uses) {
    return std::tuple_cat(pointers(uses)...);
  }
  // This one does without std::tuple_cat, which takes long to compile.
  template <class T, detail::access_mode Mode, class... Ts, detail::access_mode... Modes>
  static auto all_pointers(const data_use<T, Mode>& first,
                           const data_use<Ts, Modes>&... rest) noexcept {
    return std::tuple<value_of<T, Mode>*, value_of<Ts, Modes>*...>(first.of.at_->value,
                                                                   rest.of.at_->value...);
  }

  template <class Use>
  static constexpr bool is_list = requires(const Use& u) {
    u.of.size();
  };
  template <class Use>
  static std::size_t count([[maybe_unused]] const Use& u) noexcept {
    if constexpr (is_list<Use>) return u.of.size();
    else return requires {
        u.of;
      }
    ? 1 : 0;
  }

  struct listed {
    detail::datum_use* data;
    detail::vertex_ref* before;
    std::optional<unsigned>* rank;
  };
  template <class T, detail::access_mode Mode>
  static void list(const data_use<T, Mode>& a, listed& to) noexcept {
    *to.data++ = {a.of.at_, Mode};
  }
  template <class T, detail::access_mode Mode>
  static void list(const data_uses<T, Mode>& all, listed& to) noexcept {
    for (const datum<T>& each : all.of) *to.data++ = {each.at_, Mode};
  }
  static void list(const precedence& p, listed& to) noexcept { *to.before++ = p.before.vertex_; }
  static void list(const placement& p, listed& to) noexcept { *to.rank = p.rank; }

  template <class T, detail::access_mode Mode>
  void require_own(const data_use<T, Mode>& a) const {
    if (a.of.at_ == nullptr || a.of.at_->graph != this)
      throw std::invalid_argument("cleave::graph::run: a datum that this graph did not make");
  }
  template <class T, detail::access_mode Mode>
  void require_own(const data_uses<T, Mode>& all) const {
    for (const datum<T>& each : all.of) require_own(data_use<T, Mode>{each});
  }
  void require_own(const precedence& p) const {
    if (p.before.graph_ != 0 && p.before.graph_ != number_)
      throw std::invalid_argument("cleave::graph::run: after() a subtask of another graph");
  }
  void require_own(const placement&) const noexcept {}
  void require_no_team() const {
    if (nodes != nullptr)
      throw std::logic_error("cleave::graph::make of a team_graph: call team_graph::make");
  }
  void require_owner() const {
    if (!detail::is_mine(*this))
      throw std::logic_error(
          "cleave::graph: not the thread that made the graph, or in a subtask of it");
  }

  /// A number that no other graph of the process has. Any thread may call it.
  static std::uint64_t next_number() noexcept {
    static constinit std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  const std::uint64_t number_ = next_number();
  const int uncaught_ = std::uncaught_exceptions();
  std::vector<std::unique_ptr<detail::any_datum>> data_;
};

}  // namespace cleave
