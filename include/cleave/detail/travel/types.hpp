#pragma once

#include <cleave/detail/set_while.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/fields.hpp>
#include <cleave/detail/travel/replicas.hpp>
#include <cleave/task.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

/// How tasks travel: a table of functions for each type of task with input(), found by its id in
/// another process.
namespace cleave::detail {

/// Grows when the same task becomes other bytes; a part of the program's hash.
inline constexpr std::uint64_t wire_format = 2;

/// What can be done with a task_of<Work> without knowing Work. One object for each Work that a
/// frame may give; it enters itself into the list of the process before main. Immutable: any
/// thread.
class wire_type {
public:
  struct functions {
    void (*put_input)(task&, byte_writer&);
    std::unique_ptr<task> (*make)(byte_reader&);
    void (*put_result)(task&, byte_writer&);
    void (*get_result)(task&, byte_reader&);
  };

  wire_type(const std::type_info& work, std::uint64_t layout, const functions& f) noexcept;
  wire_type(const wire_type&) = delete;
  wire_type& operator=(const wire_type&) = delete;

  /// An id that is the same in each build of the same source, with either compiler: a hash of the
  /// type's name, and of those of its fields and of its result, as far down as they are known.
  std::uint64_t id() const noexcept { return id_; }
  /// The type's name as in the source, for messages.
  std::string name() const;

  /// Appends the input of a task that has not run here.
  void put_input(task& t, byte_writer& w) const {
    const set_while now(is_travelling);
    f_.put_input(t, w);
  }
  /// A task from the bytes of an input, all of them. Throws malformed, and what the user's types
  /// throw.
  std::unique_ptr<task> make(byte_reader& r) const {
    const set_while now(is_travelling);
    return f_.make(r);
  }
  /// Appends the result of a task that ran, and did not throw.
  void put_result(task& t, byte_writer& w) const {
    const set_while now(is_travelling), outlives(takes_data_along);
    f_.put_result(t, w);
  }
  /// Stores a result in a task that waits for it. Throws malformed; the task is then as it was.
  void get_result(task& t, byte_reader& r) const {
    const set_while now(is_travelling);
    f_.get_result(t, r);
  }

  const wire_type* next() const noexcept { return next_; }

private:
  const std::uint64_t id_;
  const char* const mangled_;
  const functions f_;
  const wire_type* next_ = nullptr;
};

/// The first of all types of this program, in no particular order; wire_type::next() leads on. Any
/// thread.
const wire_type* wire_types() noexcept;
/// The type of this program with that id, or null. Any thread.
const wire_type* find_wire_type(std::uint64_t id) noexcept;
/// A hash that tells programs apart: of all types of tasks and of shared values, and of
/// wire_format. Throws std::logic_error if two types have one name, which is possible in unnamed
/// namespaces of two files.
std::uint64_t program_hash();

/// FNV-1a, 64 bits.
class name_hash {
public:
  void add(std::string_view text) noexcept {
    for (char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
    value_ = (value_ ^ 0xff) * 1099511628211u;  // ("ab", "c") is not ("a", "bc")
  }
  void add(std::uint64_t number) noexcept {
    for (int i = 0; i < 64; i += 8) value_ = (value_ ^ (number >> i & 0xff)) * 1099511628211u;
  }
  std::uint64_t value() const noexcept { return value_; }

private:
  std::uint64_t value_ = 14695981039346656037u;
};

/// What a type is made of, down to numbers: compilers agree on these names, unlike on those they
/// print. `Around` are the types that this one is a part of.
template <class T, class... Around>
void add_layout(name_hash& h);
template <class... Around, class... Field>
void add_fields(name_hash& h, std::type_identity<std::tuple<Field...>>) {
  (add_layout<std::remove_cvref_t<Field>, Around...>(h), ...);
}
template <class T, class... Around>
void add_layout([[maybe_unused]] name_hash& h) {
#if CLEAVE_HAVE_CEREAL
  h.add(typeid(T).name());
  if constexpr ((std::is_same_v<T, Around> || ...)) {
    // The layout of T is being added, further out.
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    h.add(sizeof(T));
  } else {
    add_fields<T, Around...>(h, components<T>());
  }
#endif
}

/// The fields that a task names.
template <class Work>
using input_of = decltype(std::declval<Work&>().input());

template <class Fields>
inline constexpr bool fields_travel = false;
template <class... Field>
inline constexpr bool fields_travel<std::tuple<Field&...>> = (can_travel<Field>() && ...);

/// A pointer to somewhere, in disguise or not.
template <class T>
inline constexpr bool points = std::is_pointer_v<T> || std::is_member_pointer_v<T> || requires {
  typename T::element_type;
  std::declval<T&>().get();
}
|| requires {
  typename T::type;
  std::declval<T&>().get();
};
template <class Fields>
inline constexpr bool any_points = false;
template <class... Field>
inline constexpr bool any_points<std::tuple<Field...>> = (points<std::remove_cvref_t<Field>> ||
                                                          ...);

/// The functions of one type of task, and its entry in the list, which is made because a frame
/// refers to it.
template <class Work>
class wire_table {
  using task_type = task_of<Work>;
  using result_type = typename task_type::result_type;
  using result = std::remove_cvref_t<decltype(std::declval<Work&>().run())>;

  static_assert(
      std::is_default_constructible_v<Work>,
      "cleave: a task with input() leaves the process: it needs a default constructor, and no "
      "member that is a reference");
  static_assert(!any_points<input_of<Work>>,
                "cleave: input() names a pointer, which means nothing in another process; publish "
                "what it points to (cleave::published), or leave input() out");
  static_assert(any_points<input_of<Work>> || fields_travel<input_of<Work>>,
                "cleave: input() must return std::tie(...) of fields that can be serialized: one "
                "of them needs `auto fields() { return std::tie(...); }` or cereal's serialize()");
  static_assert(!std::is_pointer_v<result>,
                "cleave: the result of a task with input() is a pointer, which means nothing in "
                "another process");
  static_assert(std::is_pointer_v<result> || can_travel<result_type>(),
                "cleave: the result of a task with input() cannot be serialized: it needs "
                "`auto fields() { return std::tie(...); }` or cereal's serialize()");

  static task_type& of(task& t) noexcept { return static_cast<task_type&>(t); }

  static void put_input(task& t, byte_writer& w) {
    std::apply([&w](auto&... each) { (put_value(w, each), ...); }, of(t).work.input());
  }
  static std::unique_ptr<task> make(byte_reader& r) {
    auto* const t = new task_type([] { return Work{}; });
    std::unique_ptr<task> made(t);
    std::apply([&r](auto&... each) { (get_value(r, each), ...); }, t->work.input());
    r.expect_end();
    return made;
  }
  static void put_result(task& t, byte_writer& w) { put_value(w, *of(t).result); }
  static void get_result(task& t, byte_reader& r) {
    result_type arrived{};
    get_value(r, arrived);
    r.expect_end();
    of(t).result.emplace(std::move(arrived));
  }
  static std::uint64_t layout() {
    name_hash h;
    add_fields(h, std::type_identity<input_of<Work>>());
    add_layout<result_type>(h);
    return h.value();
  }

public:
  static inline const wire_type type{
      typeid(Work), layout(), {&put_input, &make, &put_result, &get_result}};
};

/// The table of a type of task; null if its tasks stay in the process. A constant.
template <class Work>
constexpr const wire_type* wire_of() noexcept {
  if constexpr (CLEAVE_HAVE_CEREAL && portable_task<Work>) {
    return &wire_table<Work>::type;
  } else {
    return nullptr;
  }
}

/// Appends what put_outcome() does for a task that threw. An exception that cannot be written is
/// replaced by one that says so.
void put_failure(const std::exception_ptr& e, byte_writer& w);
/// Appends how a task ended, after it ran: its result, what it threw, or that it was cancelled.
void put_outcome(task& t, const wire_type& type, byte_writer& w);
/// Stores how a task ended in the task that waits for it: result or error. Throws malformed; the
/// task is then as it was.
void get_outcome(task& t, const wire_type& type, byte_reader& r);

}  // namespace cleave::detail
