#pragma once

#include <cleave/runtime.hpp>

#include "core/checks.hpp"

#include <optional>
#include <string>

namespace cleave {

constexpr long most_checked_divisions = 1'000'000'000;
constexpr long most_check_seed = 1'000'000'000;

/// What the options and the environment say of CLEAVE_CHECK; empty: nothing is checked. Throws
/// std::invalid_argument.
std::optional<detail::check_plan> checking_of(const options& o);

/// What a check_error says: whether two undivided runs gave the same result, and how to repeat the
/// divided one.
std::string found_by(const detail::checks& c, bool repeatable);

}  // namespace cleave
