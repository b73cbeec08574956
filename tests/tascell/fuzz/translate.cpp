// Any text is translated, or refused by one line that names a place in it.
#include "tascell/translate.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/input_error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    tascell::translate("p.tc", text);
  } catch (const apps::input_error& e) {
    const std::string_view line = e.what();
    if (!line.starts_with("p.tc:") || line.find(": error: expected ") == line.npos ||
        line.find('\n') != line.npos)
      std::abort();
  }
  return 0;
}
