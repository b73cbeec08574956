#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>

namespace cleave::detail {

/// Why tasks stay in their process: what compile errors and the lines about idle nodes say.
enum class stays_for : std::uint8_t {
  nothing,  // it travels
  no_archive,
  closure,
  loop_without_put,
  no_input,
  argument,
  result,
  group
};

/// A type of tasks that stay. One constant object for each, which frames and tasks lead to.
struct staying_type {
  const std::type_info* work;  // the task, or the closure that it is made of
  stays_for why;
  unsigned argument;           // which argument of the call cannot travel, from 1 on; 0: none
  const std::type_info* part;  // the type of the argument or the result that cannot; else null

  /// What the user would call the task.
  std::string name() const;
  /// A clause that says why it stays.
  std::string reason() const;
};

}  // namespace cleave::detail
