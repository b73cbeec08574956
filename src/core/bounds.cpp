#include <cleave/detail/division/bounds.hpp>

#include <stdexcept>
#include <string>

namespace cleave::detail {

void refuse_negative_first(std::int64_t first) {
  throw std::out_of_range(
      "cleave: a loop from " + std::to_string(first) +
      ", whose end is unsigned and has 64 bits; expected a first iteration that "
      "is not negative, or an end that is signed");
}

}  // namespace cleave::detail
