// A step that is undone at once.
// flags: -Werror
// error: ignoring .*nodiscard
#include <cleave/step.hpp>

void place(int& queens) {
  cleave::step{[&queens] { ++queens; }, [&queens] { --queens; }};
}
