#pragma once

namespace cleave::tests {

/// Whether this is built with a sanitizer: what is computed takes five to twenty times as long, and
/// a part of it is enough.
#if defined(TESTS_UNDER_ADDRESS) || defined(TESTS_UNDER_THREAD)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace cleave::tests
