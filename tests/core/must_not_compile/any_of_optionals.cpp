// any_of asks whether, not what.
// error: the body of any_of and all_of must return a bool
#include <cleave/find.hpp>

#include <optional>

bool f() {
  return cleave::any_of(0, 9, [](int i) { return i > 3 ? std::optional<int>(i) : std::nullopt; });
}
