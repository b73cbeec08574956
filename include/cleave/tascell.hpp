#pragma once

#include <cleave/cleave.hpp>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

/// What the C++ that `cleave tascell` makes calls. It is no interface of its own: programs in C++
/// use the constructs that these stand for.
namespace cleave::tascell {

/// Assigns a field of a task, which may be an array.
template <class T>
void copy(T& to, const T& from) {
  if constexpr (std::is_array_v<T>) {
    for (std::size_t i = 0; i < std::extent_v<T>; i++) tascell::copy(to[i], from[i]);
  } else {
    to = from;
  }
}

/// The second branch of do_two: what it carries, or the result of its task.
template <class Carried, class Result>
struct second_branch {
  Carried carried{};
  std::optional<Result> given;
  second_branch(const Carried& c) : carried(c) {}
  second_branch(Result r) : given(std::move(r)) {}
};

/// A closure that calls branch(carried) with a copy of what is carried, and returns that. What the
/// branch assigns first begins anew, so that the closure is no larger than it has to be.
template <class Changed, class Carried, class Branch>
[[gnu::always_inline]] inline auto with_copy(const Carried& carried, Branch branch) {
  if constexpr (Carried::begins_anew) {
    return [branch]() -> Changed {
      Carried changed{};
      branch(changed);
      return changed;
    };
  } else {
    return [branch, carried]() -> Changed {
      Carried changed = carried;
      branch(changed);
      return changed;
    };
  }
}

/// `both`, whose branches change what `one` and `two` carry. get(one, two, result) takes in the
/// result of the second one's task.
template <class Result, class One, class Two, class First, class Second, class Put, class Get>
[[gnu::always_inline]] inline void do_two(One& one, Two& two, First first, Second second, Put put,
                                          Get get) {
  if (detail::beyond_cutoff()) [[likely]] {
    first(one);
    second(two);
    return;
  }
  auto f = tascell::with_copy<One>(one, std::move(first));
  auto g = tascell::with_copy<second_branch<Two, Result>>(two, std::move(second));
  detail::second_in_place<decltype(g), Put> branch{std::move(g), std::move(put)};
  const auto [a, b] =
      detail::divisible([](auto& x, auto& y) { return detail::divisible_both(x, y); }, f, branch);
  one = a;
  if (b.given) [[unlikely]]
    get(one, two, *b.given);
  else two = b.carried;
}

/// `each`, whose iterations change what is carried: body(i, carried), or body(i, carried, wind).
/// get(carried, result) takes in the result of a part. Returns what is carried at the end.
template <class Carried, class Int, class Body, class Put, class Get>
[[gnu::always_inline]] inline Carried each(Carried carried, Int first, Int last, Body body, Put put,
                                           Get get) {
  const Int rest = detail::plain_loop<detail::winding<Body, Int, Carried&>>(
      first, last, [&](Int i) { detail::add_to<detail::undivided_wind>(carried, body, i); });
  if (!(rest < last)) [[likely]]
    return carried;
  return detail::divisible(
      [](Int f, Int t, auto& c, auto& b, auto& p, auto& g) {
        Carried so_far = c;
        const auto take_in = [&](auto result) { g(so_far, result); };
        detail::loop(
            f, t, [&](Int i) { detail::add_to<detail::linked_wind>(so_far, b, i); }, p,
            detail::get_parts<decltype(take_in)>{take_in});
        return so_far;
      },
      rest, last, carried, body, put, get);
}

/// A step around a part of a function.
template <class Do, class Body, class Undo>
[[gnu::always_inline]] inline void dynamic_wind(Do make, Body body, Undo undo) {
  step made{std::move(make), std::move(undo)};
  body();
}

/// The words of a command line as the numbers of a task, in their order.
class arguments {
public:
  arguments(int count, char** words) : words_(words), count_(count) {}

  template <class T>
  void operator()(const char* name, T& field) {
    if constexpr (std::is_arithmetic_v<T>) {
      names_ += std::string(" ") + name;
      if (wanted_++ < count_ && wrong_.empty()) read(name, words_[wanted_ - 1], field);
    }
  }

  /// What is wrong with the command line, in one line; empty if nothing is.
  std::string wrong() const {
    if (!wrong_.empty()) return wrong_;
    if (wanted_ == count_) return "";
    return "expected " + (wanted_ == 0 ? "no arguments" : "the numbers" + names_) + ", got " +
           std::to_string(count_) + (count_ == 1 ? " argument" : " arguments");
  }
  /// The names of the numbers, each with a blank before it.
  const std::string& names() const { return names_; }

private:
  template <class T>
  void read(const char* name, const char* word, T& field) {
    const char* const end = word + std::strlen(word);
    const char* stop = word;
    bool fits = true;
    if constexpr (std::is_floating_point_v<T>) {
      char* after = nullptr;
      field = static_cast<T>(std::strtod(word, &after));
      stop = after;
    } else {
      std::conditional_t<std::is_signed_v<T>, long long, unsigned long long> n = 0;
      const auto [after, error] = std::from_chars(word, end, n);
      stop = after;
      field = static_cast<T>(n);
      fits = error == std::errc() && n >= (std::numeric_limits<T>::min)() &&
             n <= (std::numeric_limits<T>::max)();
    }
    if (fits && stop == end && stop != word) return;
    wrong_ = std::string(name) + ": expected a " +
             (std::is_floating_point_v<T> ? "number" : "whole number that it can hold") +
             ", got '" + word + "'";
  }

  char** words_;
  int count_, wanted_ = 0;
  std::string names_, wrong_;
};

/// Prints numbers and arrays of them, each as `name = value`.
struct printed {
  template <class T>
  void operator()(const char* name, const T& field) const {
    std::printf("%s =", name);
    print(field);
    std::printf("\n");
  }

private:
  template <class T>
  static void print(const T& field) {
    if constexpr (std::is_array_v<T>) {
      for (const auto& element : field) print(element);
    } else if constexpr (std::is_floating_point_v<T>) {
      std::printf(" %.17g", static_cast<double>(field));
    } else if constexpr (std::is_signed_v<T>) {
      std::printf(" %lld", static_cast<long long>(field));
    } else if constexpr (std::is_arithmetic_v<T>) {
      std::printf(" %llu", static_cast<unsigned long long>(field));
    } else {
      std::printf(" ?");
    }
  }
};

/// The whole program, of a file without a main: the first task, with the numbers on the command
/// line, prints what comes out. With `--time` a last line on standard error has the seconds.
/// `numbers(arguments&, task&)` and `results(printed&, result&)` name the fields. Returns the exit
/// status.
template <class Task, class Numbers, class Results>
int run_program(int argc, char** argv, Numbers numbers, Results results) {
  const std::string program = argv[0];
  const std::string name = program.substr(program.find_last_of('/') + 1);
  try {
    cleave::runtime workers(argc, argv);
    const bool timed = argc > 1 && std::strcmp(argv[1], "--time") == 0;
    arguments words(argc - 1 - timed, argv + 1 + timed);
    Task first{};
    numbers(words, first);
    if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
      std::printf("usage: %s [--time]%s [--workers N] [--serve WHERE] [--check N] [--trace FILE]\n",
                  name.c_str(), words.names().c_str());
      return 0;
    }
    if (const std::string wrong = words.wrong(); !wrong.empty()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), wrong.c_str());
      return 2;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto found = workers.run([first] {
      Task whole = first;  // CLEAVE_CHECK calls this twice
      return whole.run();
    });
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    printed print;
    results(print, found);
    if (timed) std::fprintf(stderr, "%.6f s\n", passed.count());
    if (std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "%s: cannot write to standard output\n", name.c_str());
  } catch (const std::exception& e) { std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what()); }
  return 1;
}

}  // namespace cleave::tascell
