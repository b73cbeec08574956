#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace cleave::detail {

/// A type's name as in the source, made of what type_info calls it.
inline std::string demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : mangled;
}

}  // namespace cleave::detail
