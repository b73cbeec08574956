#pragma once

#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace cleave {

/// What a task threw on another node, where that is of a type that does not travel: neither one of
/// the standard library's nor registered (see travels). Thrown where the exception itself would
/// have been.
class remote_error : public std::runtime_error {
public:
  remote_error(std::string type, const std::string& what)
      : runtime_error(what), type_(std::move(type)) {}
  /// The name of the type, as in the source. what() is what the exception said; empty if it was no
  /// std::exception.
  const std::string& type() const noexcept { return type_; }

private:
  std::string type_;
};

namespace detail {

/// A type of exception that arrives as itself. Enters itself into the list of the process;
/// immutable then.
class error_type {
public:
  struct functions {
    void (*put)(const std::exception_ptr&, byte_writer&);  // an exception of exactly this type
    std::exception_ptr (*get)(byte_reader&, const std::string& what);
  };
  error_type(const std::type_info& type, const functions& f) noexcept;
  error_type(const error_type&) = delete;
  error_type& operator=(const error_type&) = delete;

  const std::type_info& type() const noexcept { return type_; }
  std::uint64_t id() const noexcept { return id_; }
  const functions& call() const noexcept { return f_; }
  const error_type* next() const noexcept { return next_; }

private:
  const std::type_info& type_;
  const std::uint64_t id_;
  const functions f_;
  const error_type* next_ = nullptr;
};

template <class E>
concept error_with_fields = requires(E& e) {
  e.input();
};

template <class E>
struct error_functions {
  static void put(const std::exception_ptr& thrown, byte_writer& w) {
    if constexpr (error_with_fields<E>) {
      try {
        std::rethrow_exception(thrown);
      } catch (E& e) {
        std::apply([&w](auto&... each) { (put_value(w, each), ...); }, e.input());
      }
    }
  }

  static std::exception_ptr get(byte_reader& r, const std::string& what) {
    if constexpr (error_with_fields<E>) {
      return get_fields(r, std::type_identity<decltype(std::declval<E&>().input())>());
    } else if constexpr (std::is_constructible_v<E, const std::string&>) {
      return std::make_exception_ptr(E(what));
    } else {
      static_assert(std::is_default_constructible_v<E>,
                    "cleave::travels: the exception needs input(), or a constructor from what it "
                    "says, or one without arguments");
      return std::make_exception_ptr(E());
    }
  }

private:
  template <class... Field>
  static std::exception_ptr get_fields(byte_reader& r, std::type_identity<std::tuple<Field&...>>) {
    static_assert(
        (can_travel<Field>() && ...),
        "cleave::travels: a field that the exception's input() names cannot be serialized");
    std::tuple<Field...> fields;
    std::apply([&r](auto&... each) { (get_value(r, each), ...); }, fields);
    if constexpr (std::is_constructible_v<E, Field...>) {
      return std::make_exception_ptr(std::make_from_tuple<E>(std::move(fields)));
    } else {
      E e{};
      e.input() = std::move(fields);
      return std::make_exception_ptr(e);
    }
  }
};

}  // namespace detail

/// Registers a type of exception: it arrives from another node as itself. One line beside the type:
///
///     struct bad_move : std::runtime_error {
///       int row;
///       explicit bad_move(int r) : runtime_error("bad move"), row(r) {}
///       auto input() { return std::tie(row); }
///     };
///     inline const cleave::travels<bad_move> bad_move_travels;
///
/// What input() names travels, and the exception is made of it: by a constructor with these
/// arguments, else by assigning to them. Without input() it is made by E(what), else by E(). Only
/// exactly this type arrives as itself, none derived from it. std::logic_error, std::runtime_error
/// and those derived from them in <stdexcept>, std::bad_alloc, std::system_error and
/// others of the standard library are registered. In a program without cereal there are no other
/// nodes, and it does nothing.
template <class E>
class travels {
#if CLEAVE_HAVE_CEREAL
public:
  travels() noexcept : registered_(typeid(E), {&functions::put, &functions::get}) {}

private:
  using functions = detail::error_functions<E>;
  detail::error_type registered_;
#else
public:
  travels() noexcept {}
#endif
};

}  // namespace cleave
