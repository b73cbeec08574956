#pragma once

#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/fields.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#if !defined(CLEAVE_NO_CEREAL) && defined(__cpp_rtti) && __has_include(<cereal/cereal.hpp>)
#define CLEAVE_HAVE_CEREAL 1
#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/common.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#else
#define CLEAVE_HAVE_CEREAL 0
#endif

#if CLEAVE_HAVE_CEREAL
namespace cleave::detail {
struct bare_output;
struct bare_input;
class output_archive;
class input_archive;
}  // namespace cleave::detail
CEREAL_SETUP_ARCHIVE_TRAITS(cleave::detail::bare_input, cleave::detail::bare_output)
CEREAL_SETUP_ARCHIVE_TRAITS(cleave::detail::input_archive, cleave::detail::output_archive)
// All archives here have functions for all of these. Without these lines cereal tries a dozen kinds
// of functions with each type, several times.
namespace cereal::traits {
template <class T>
struct is_output_serializable<BinaryData<T>, cleave::detail::bare_output> : std::true_type {};
template <class T>
struct is_input_serializable<BinaryData<T>, cleave::detail::bare_input> : std::true_type {};
template <class T>
struct is_output_serializable<BinaryData<T>, cleave::detail::output_archive> : std::true_type {};
template <class T>
struct is_input_serializable<BinaryData<T>, cleave::detail::input_archive> : std::true_type {};
}  // namespace cereal::traits
#endif

/// Values as bytes: cereal's archives over byte_writer and byte_reader. Where cereal is not found
/// nothing travels, and everything runs on one machine.
namespace cleave::detail {

/// A type of Cleave's own that travels in its own way: a handle.
template <class T>
concept travels_itself = requires(const T& from, T& to, byte_writer& w, byte_reader& r) {
  { T::travels } -> std::convertible_to<bool>;
  from.put(w);
  to.get(r);
};

#if CLEAVE_HAVE_CEREAL

/// An archive that knows numbers alone: it tells what is serialized by functions of cereal's or
/// the user's.
struct bare_output : cereal::OutputArchive<bare_output, cereal::AllowEmptyClassElision> {
  bare_output() : OutputArchive(this) {}
  template <class T>
  friend void save(bare_output&, const cereal::BinaryData<T>&) {}
};
struct bare_input : cereal::InputArchive<bare_input, cereal::AllowEmptyClassElision> {
  bare_input() : InputArchive(this) {}
  template <class T>
  friend void load(bare_input&, cereal::BinaryData<T>&) {}
};
/// standard_part() finds the standard type, of those that cereal knows, that a type is or derives
/// from.
template <class... A>
std::vector<A...> standard_part(const std::vector<A...>*);
template <class... A>
std::deque<A...> standard_part(const std::deque<A...>*);
template <class... A>
std::list<A...> standard_part(const std::list<A...>*);
template <class... A>
std::map<A...> standard_part(const std::map<A...>*);
template <class... A>
std::multimap<A...> standard_part(const std::multimap<A...>*);
template <class... A>
std::set<A...> standard_part(const std::set<A...>*);
template <class... A>
std::multiset<A...> standard_part(const std::multiset<A...>*);
template <class... A>
std::unordered_map<A...> standard_part(const std::unordered_map<A...>*);
template <class... A>
std::unordered_multimap<A...> standard_part(const std::unordered_multimap<A...>*);
template <class... A>
std::unordered_set<A...> standard_part(const std::unordered_set<A...>*);
template <class... A>
std::unordered_multiset<A...> standard_part(const std::unordered_multiset<A...>*);
template <class... A>
std::basic_string<A...> standard_part(const std::basic_string<A...>*);
template <class A, std::size_t N>
std::array<A, N> standard_part(const std::array<A, N>*);
template <class... A>
std::tuple<A...> standard_part(const std::tuple<A...>*);
template <class A, class B>
std::pair<A, B> standard_part(const std::pair<A, B>*);
template <class... A>
std::variant<A...> standard_part(const std::variant<A...>*);
template <class A>
std::optional<A> standard_part(const std::optional<A>*);

/// A type that derives from a standard one: cereal would take it for its base, and leave out what
/// it adds.
template <class T>
concept extends_standard = requires(const T* t) {
  standard_part(t);
  requires !std::is_same_v<decltype(standard_part(t)), T>;
};

/// A standard type that cereal knows, whatever it contains.
template <class T>
concept is_standard = requires(const T* t) {
  requires std::is_same_v<decltype(standard_part(t)), T>;
};

/// A type in which cereal hands a value to an archive.
template <class T>
inline constexpr bool wraps_for_cereal = false;
template <class T>
inline constexpr bool wraps_for_cereal<cereal::NameValuePair<T>> = true;
template <class T>
inline constexpr bool wraps_for_cereal<cereal::SizeTag<T>> = true;
template <class T>
inline constexpr bool wraps_for_cereal<cereal::BinaryData<T>> = true;

template <class T>
concept known_to_cereal = is_standard<T> || wraps_for_cereal<T> ||
    (!extends_standard<T> && cereal::traits::is_output_serializable<T, bare_output>::value &&
     cereal::traits::is_input_serializable<T, bare_input>::value);

/// A struct whose fields are put one after the other.
template <class T>
concept has_fields = std::is_class_v<T> && !travels_itself<T> && !known_to_cereal<T> &&
                     (names_fields<T> || plain_aggregate<T>);

/// The type of all numbers in fields that are numbers, or arrays of them; else void.
template <class Fields>
struct common_number {
  using type = void;
  static constexpr std::size_t bytes = 0;
};
template <class First, class... Rest>
struct common_number<std::tuple<First&, Rest&...>> {
  using one = std::remove_all_extents_t<First>;
  using type =
      std::conditional_t<(std::is_same_v<one, std::remove_all_extents_t<Rest>> && ...), one, void>;
  static constexpr std::size_t bytes = (sizeof(First) + ... + sizeof(Rest));
};

/// A struct of numbers of one type, without gaps: a point. Many of them are an array of numbers.
/// What names its fields may leave some out or name others; but one array as large as the struct is
/// the struct.
template <class T>
concept row_of_numbers = has_fields<T> && std::is_trivially_copyable_v<T> &&
    std::is_standard_layout_v<T> && requires(T& t) {
  typename common_number<decltype(fields_of(t))>::type;
  requires number<typename common_number<decltype(fields_of(t))>::type>;
  requires !std::is_same_v<typename common_number<decltype(fields_of(t))>::type, bool>;
  requires sizeof(T) == common_number<decltype(fields_of(t))>::bytes;
  requires !names_fields<T> || std::tuple_size_v<decltype(fields_of(t))> == 1;
};
template <row_of_numbers T>
using number_of = typename common_number<decltype(fields_of(std::declval<T&>()))>::type;
template <row_of_numbers T>
constexpr std::size_t numbers_in = sizeof(T) / sizeof(number_of<T>);

/// What an archive here handles without cereal, whose calls take long to compile for each type.
template <class T>
concept travels_without_cereal = number<T> || travels_itself<T> || has_fields<T>;

/// The archive that writes. Its functions are found for this archive alone: others must not try
/// their constraints.
class output_archive : public cereal::OutputArchive<output_archive> {
public:
  explicit output_archive(byte_writer& w) : OutputArchive(this), bytes_(w) {}
  template <class T>
  void put(const T& value) {
    if constexpr (travels_without_cereal<T>) save(*this, value);
    else (*this)(value);
  }

private:
  template <number T>
  friend void save(output_archive& ar, const T& value) {
    ar.bytes_.put(value);
  }
  /// An array, all at once.
  template <class T>
  friend void save(output_archive& ar, const cereal::BinaryData<T>& all) {
    using element = std::remove_all_extents_t<std::remove_pointer_t<std::decay_t<T>>>;
    ar.bytes_.put_all(reinterpret_cast<const element*>(all.data),
                      static_cast<std::size_t>(all.size) / sizeof(element));
  }
  template <class T>
  friend void save(output_archive& ar, const cereal::SizeTag<T>& tag) {
    ar.bytes_.put_length(static_cast<std::size_t>(tag.size));
  }
  template <class T>
  friend void save(output_archive& ar, const cereal::NameValuePair<T>& field) {
    ar(field.value);
  }
  template <travels_itself T>
  friend void save(output_archive& ar, const T& value) {
    value.put(ar.bytes_);
  }
  template <has_fields T>
  friend void save(output_archive& ar, const T& value) {
    const nested inside(ar.bytes_);
    // fields() gives references that could be changed, as input() does, and nothing changes.
    std::apply([&ar](auto&... each) { (ar.put(each), ...); }, fields_of(const_cast<T&>(value)));
  }

  template <row_of_numbers T, class A>
  friend void save(output_archive& ar, const std::vector<T, A>& all) {
    ar.bytes_.put_length(all.size());
    ar.bytes_.put_all(reinterpret_cast<const number_of<T>*>(all.data()),
                      all.size() * numbers_in<T>);
  }

  byte_writer& bytes_;
};

class input_archive : public cereal::InputArchive<input_archive> {
public:
  explicit input_archive(byte_reader& r) : InputArchive(this), bytes_(r) {}
  template <class T>
  void get(T& value) {
    if constexpr (travels_without_cereal<T>) load(*this, value);
    else (*this)(value);
  }

private:
  template <number T>
  friend void load(input_archive& ar, T& value) {
    value = ar.bytes_.get<T>();
  }
  template <class T>
  friend void load(input_archive& ar, cereal::BinaryData<T>& all) {
    using element = std::remove_all_extents_t<std::remove_pointer_t<std::decay_t<T>>>;
    ar.bytes_.get_all(reinterpret_cast<element*>(all.data),
                      static_cast<std::size_t>(all.size) / sizeof(element));
  }
  template <class T>
  friend void load(input_archive& ar, cereal::SizeTag<T>& tag) {
    tag.size = ar.bytes_.get_length();
  }
  template <class T>
  friend void load(input_archive& ar, cereal::NameValuePair<T>& field) {
    ar(field.value);
  }
  template <travels_itself T>
  friend void load(input_archive& ar, T& value) {
    value.get(ar.bytes_);
  }
  template <has_fields T>
  friend void load(input_archive& ar, T& value) {
    const nested inside(ar.bytes_);
    std::apply([&ar](auto&... each) { (ar.get(each), ...); }, fields_of(value));
  }

  // These functions take the place of cereal's, which believe a length and allocate.
  template <class T, class A>
    requires(!number<T> && !row_of_numbers<T>)
  friend void load(input_archive& ar, std::vector<T, A>& to) { ar.load_elements(to); }
  template <class T, class A>
  friend void load(input_archive& ar, std::deque<T, A>& to) {
    ar.load_elements(to);
  }
  template <class T, class A>
  friend void load(input_archive& ar, std::list<T, A>& to) {
    ar.load_elements(to);
  }
  template <number T, class A>
    requires(!std::is_same_v<T, bool>)
  friend void load(input_archive& ar, std::vector<T, A>& to) { ar.load_numbers(to); }

  template <row_of_numbers T, class A>
  friend void load(input_archive& ar, std::vector<T, A>& to) {
    const std::size_t n = ar.bytes_.get_length();
    if (n > ar.bytes_.left() / sizeof(T)) ar.bytes_.fail(std::to_string(n) + " rows of numbers");
    to.resize(n);
    ar.bytes_.get_all(reinterpret_cast<number_of<T>*>(to.data()), n * numbers_in<T>);
  }

  /// A sequence grows as its elements arrive.
  template <class Sequence>
  void load_elements(Sequence& to) {
    static_assert(!std::is_empty_v<typename Sequence::value_type>,
                  "cleave: a sequence of objects without fields cannot leave the process");
    const nested inside(bytes_);
    to.clear();
    for (std::size_t n = bytes_.get_length(); n > 0; n--) {
      to.emplace_back();
      get(to.back());
    }
  }
  /// Numbers come through the cache in pieces: to resize first would write all of them twice.
  template <class T, class A>
  void load_numbers(std::vector<T, A>& to) {
    constexpr std::size_t most = 16384 / sizeof(T);
    std::size_t n = bytes_.get_length();
    if (n > bytes_.left() / sizeof(T)) bytes_.fail(std::to_string(n) + " numbers");
    to.clear();
    to.reserve(n);
    T piece[most];
    for (std::size_t k = 0; n > 0; n -= k) {
      k = (std::min)(n, most);
      bytes_.get_all(piece, k);
      to.insert(to.end(), piece, piece + k);
    }
  }

  byte_reader& bytes_;
};

template <class T>
void put_value(byte_writer& w, const T& value) {
  output_archive archive(w);
  archive.put(value);
}
/// Throws malformed.
template <class T>
void get_value(byte_reader& r, T& value) {
  try {
    input_archive archive(r);
    archive.get(value);
  } catch (const cereal::Exception& e) {
    throw malformed(std::string("malformed bytes: ") + e.what());
  } catch (const std::length_error&) {
    r.fail("a length that fits into memory");
  } catch (const std::bad_alloc&) { r.fail("a length that fits into memory"); }
}

/// What a value of T is made of that has neither fields nor elements.
template <class T>
struct parts_of {
  using type = std::tuple<>;
};
template <class A, class B>
struct parts_of<std::pair<A, B>> {
  using type = std::tuple<std::remove_const_t<A>, B>;  // the key of a map is const
};
template <class... A>
struct parts_of<std::tuple<A...>> {
  using type = std::tuple<A...>;
};
template <class... A>
struct parts_of<std::variant<A...>> {
  using type = std::tuple<A...>;
};

/// What a value of T is made of.
template <class T>
constexpr auto components() {
  if constexpr (std::is_bounded_array_v<T>)
    return std::type_identity<std::tuple<std::remove_extent_t<T>>>();
  else if constexpr (has_fields<T>)
    return std::type_identity<decltype(fields_of(std::declval<T&>()))>();
  else if constexpr (!travels_itself<T> && requires { typename T::value_type; })
    return std::type_identity<std::tuple<typename T::value_type>>();
  else return std::type_identity<typename parts_of<T>::type>();
}

template <class T, class... Around>
constexpr bool can_travel();
template <class T, class... Around, class... Part>
constexpr bool parts_can_travel(std::type_identity<std::tuple<Part...>>) {
  return (can_travel<std::remove_reference_t<Part>, T, Around...>() && ...);
}

/// Whether values of T can be put and got. `Around` are the types that this one is a part of.
template <class T, class... Around>
constexpr bool can_travel() {
  if constexpr ((std::is_same_v<T, Around> || ...)) {
    return true;
  } else if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
    return !std::is_const_v<T> && !std::is_same_v<T, long double>;
  } else if constexpr (travels_itself<T> && !std::is_const_v<T>) {
    return T::travels;
  } else if constexpr (std::is_bounded_array_v<T> || (std::is_class_v<T> && !std::is_const_v<T> &&
                                                      std::is_default_constructible_v<T> &&
                                                      (has_fields<T> || known_to_cereal<T>))) {
    return parts_can_travel<T, Around...>(components<T>());
  } else {
    return false;
  }
}

#else

template <class T>
void put_value(byte_writer&, const T&);
template <class T>
void get_value(byte_reader&, T&);
template <class T, class... Around>
constexpr bool can_travel() {
  return false;
}

#endif

}  // namespace cleave::detail
