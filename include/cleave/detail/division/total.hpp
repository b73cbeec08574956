#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The type that a loop adds up or merges in.
namespace cleave::detail {

/// A total that is copied freely, for the compiler to keep the copy in registers.
template <class R>
concept small_total = std::is_trivially_copyable_v<R> && std::is_copy_constructible_v<R> &&
                      std::is_copy_assignable_v<R> && sizeof(R) <= 128;

/// What stands for a type that the caller did not name.
struct unnamed {};

/// Whether each number of one type is one of the other. It is true for what is no number, whose own
/// conversions decide.
template <class From, class To>
inline constexpr bool keeps_digits = true;
template <class From, class To>
  requires std::is_arithmetic_v<From> && std::is_arithmetic_v<To>
inline constexpr bool keeps_digits<From, To> =
    std::numeric_limits<From>::digits <= std::numeric_limits<To>::digits &&
    (!std::numeric_limits<From>::is_signed || std::numeric_limits<To>::is_signed) &&
    (std::is_integral_v<From> || std::is_floating_point_v<To>);

/// What numbers of a type are added up in: integers in 64 bits, those that arithmetic makes an int
/// of in signed ones.
template <class R>
struct widened_to {
  using type = R;
};
template <std::integral R>
  requires(sizeof(R) < sizeof(std::int64_t))
struct widened_to<R> {
  using type = std::conditional_t<std::is_signed_v<decltype(+R())>, std::int64_t, std::uint64_t>;
};

template <class Named, class Term>
struct total_type {
  static_assert(!std::is_void_v<Term>, "the body of a sum returns what is added up");
  using type = Named;
};
template <class Term>
struct total_type<unnamed, Term> {
  static_assert(!std::is_void_v<Term>, "the body of a sum returns what is added up");
  using type = typename widened_to<Term>::type;
};

/// The total of a sum whose body returns this.
template <class Named, class Term>
using total_of = typename total_type<Named, std::remove_cvref_t<Term>>::type;

template <class Named, class T, class Term, class Merge>
struct reduced_type {
  using type = Named;
};
template <class T, class Term, class Merge>
struct reduced_type<unnamed, T, Term, Merge> {
  using type = T;
  static_assert(keeps_digits<std::remove_cvref_t<Term>, T>,
                "what the body returns does not fit into the type of the identity: give the "
                "identity that type, or name it, as in reduce<double>(…)");
  static_assert(keeps_digits<std::remove_cvref_t<std::invoke_result_t<Merge&, T, Term>>, T>,
                "what merge returns does not fit into the type of the identity: give the identity "
                "that type, or name it, as in reduce<double>(…)");
};
/// The total of a reduce from an identity of type T.
template <class Named, class T, class Term, class Merge>
using reduced = typename reduced_type<Named, T, Term, Merge>::type;

/// What the results of parts are merged in: numbers in the type of the total.
template <class R, class Part>
using parts_total =
    std::conditional_t<std::is_arithmetic_v<R> && std::is_arithmetic_v<Part>, R, Part>;

/// A term as a number of the total's type; what is no number as it is.
template <class R, class Term>
constexpr decltype(auto) as_term(Term&& term) {
  if constexpr (std::is_arithmetic_v<R> && std::is_arithmetic_v<std::remove_cvref_t<Term>>) {
    return static_cast<R>(term);
  } else {
    return static_cast<Term&&>(term);
  }
}

/// Adds one term. Numbers are added without `+=`, which says of a short that it may not hold the
/// sum.
template <class R, class Term>
constexpr void add_term(R& total, Term&& term) {
  if constexpr (std::is_arithmetic_v<R> && std::is_arithmetic_v<std::remove_cvref_t<Term>>) {
    total = static_cast<R>(total + static_cast<R>(term));
  } else {
    total += static_cast<Term&&>(term);
  }
}

}  // namespace cleave::detail
