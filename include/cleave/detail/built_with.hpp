#pragma once

#include <version>

namespace cleave::detail {

// The library and a program share types of the standard library, whose layout depends on which one
// it is and on these macros. The library defines the one name here that it was built with, and each
// program refers to the one that it was built with. So where they differ, the program does not
// link, and the linker says this name.
#if defined(_LIBCPP_VERSION)
#define CLEAVE_BUILT_WITH built_with_libcxx
#elif defined(_GLIBCXX_DEBUG) && !_GLIBCXX_USE_CXX11_ABI
#define CLEAVE_BUILT_WITH built_with_GLIBCXX_DEBUG_and_GLIBCXX_USE_CXX11_ABI_0
#elif defined(_GLIBCXX_DEBUG)
#define CLEAVE_BUILT_WITH built_with_GLIBCXX_DEBUG
#elif !_GLIBCXX_USE_CXX11_ABI
#define CLEAVE_BUILT_WITH built_with_GLIBCXX_USE_CXX11_ABI_0
#else
#define CLEAVE_BUILT_WITH built_without_GLIBCXX_DEBUG
#endif

extern const char CLEAVE_BUILT_WITH;
/// Makes every program refer to the name that it was built with.
[[gnu::used]] inline const char* const library_must_be = &CLEAVE_BUILT_WITH;

}  // namespace cleave::detail
