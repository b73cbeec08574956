#pragma once

#include <cstdint>

/// Where the results of a divided and an undivided run may differ, although nothing is wrong.
namespace cleave::detail {

/// Says that what the program returns may depend from now on upon how it is divided, as it does
/// once a scope was cancelled: CLEAVE_CHECK sounds no alarm then. Any thread.
void allow_difference() noexcept;
/// How often that was said in this process.
std::uint64_t allowed_differences() noexcept;

}  // namespace cleave::detail
