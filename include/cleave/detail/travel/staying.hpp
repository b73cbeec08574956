#pragma once

#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/staying_type.hpp>
#include <cleave/detail/travel/types.hpp>
#include <cleave/task.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <typeinfo>

/// Why tasks stay in their process: what compile errors and the lines about idle nodes say.
namespace cleave::detail {

/// What is said of a type of tasks that is no portable_task.
template <class Work>
struct described {
  using visible = Work;         // what the user wrote: the task, or the closure it is made of
  using copies = std::tuple<>;  // the arguments of a call
  static constexpr stays_for why = stays_for::no_input;
};
template <class F>
struct described<closure_task<F>> {
  using visible = F;
  using copies = std::tuple<>;
  static constexpr stays_for why = stays_for::closure;
};

/// Which type of a tuple cannot travel: from 1 on; 0: none.
template <class Copies>
struct first_that_stays;
template <class... Copy>
struct first_that_stays<std::tuple<Copy...>> {
  static constexpr unsigned number() {
    unsigned n = 0, found = 0;
    ((++n, found == 0 && !can_travel<Copy>() ? found = n : 0), ...);
    return found;
  }
};

template <class Work>
constexpr stays_for why_it_stays() {
  if constexpr (!CLEAVE_HAVE_CEREAL) return stays_for::no_archive;
  else if constexpr (portable_task<Work>) return stays_for::nothing;
  else if constexpr (first_that_stays<typename described<Work>::copies>::number() != 0)
    return stays_for::argument;
  else return described<Work>::why;
}

/// The argument of the call that cannot travel, from 1 on; 0: none.
template <class Work>
constexpr unsigned staying_argument() {
  if constexpr (why_it_stays<Work>() == stays_for::argument)
    return first_that_stays<typename described<Work>::copies>::number();
  else return 0;
}

/// The type of the part that cannot travel, or null.
template <class Work>
constexpr const std::type_info* staying_part() {
  if constexpr (why_it_stays<Work>() == stays_for::argument) {
    return &typeid(
        std::tuple_element_t<staying_argument<Work>() - 1, typename described<Work>::copies>);
  } else if constexpr (why_it_stays<Work>() == stays_for::result) {
    return &typeid(typename task_of<Work>::result_type);
  } else {
    return nullptr;
  }
}
template <class Work>
inline constexpr staying_type staying{&typeid(typename described<Work>::visible),
                                      why_it_stays<Work>(), staying_argument<Work>(),
                                      staying_part<Work>()};

/// Says why tasks of a type stay; null if they travel. A constant.
template <class Work>
constexpr const staying_type* staying_of() noexcept {
  if constexpr (why_it_stays<Work>() == stays_for::nothing) return nullptr;
  else return &staying<Work>;
}

}  // namespace cleave::detail
