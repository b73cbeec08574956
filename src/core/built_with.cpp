#include <cleave/detail/built_with.hpp>

namespace cleave::detail {

const char CLEAVE_BUILT_WITH = 0;

}  // namespace cleave::detail
