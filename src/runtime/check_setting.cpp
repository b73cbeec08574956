#include "runtime/check_setting.hpp"

#include "machine/random.hpp"
#include "machine/settings.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace cleave {
namespace {

/// How often the progress is told on a terminal.
constexpr long told_on_terminals = 10;  // seconds
constexpr long most_told_every = 86'400;
/// A seed that nobody has chosen is easy to type.
constexpr std::uint64_t short_seeds = 1'000'000;

}  // namespace

std::optional<detail::check_plan> checking_of(const options& o) {
  if (o.check != 0)
    machine::whole_number("check", std::to_string(o.check), 0, most_checked_divisions);
  const long amount =
      o.check != 0 ? o.check : machine::environment("CLEAVE_CHECK", 0, most_checked_divisions, 0);
  const long seed = machine::environment("CLEAVE_CHECK_SEED", 1, most_check_seed, 0);
  const long told = machine::environment("CLEAVE_CHECK_PROGRESS", 0, most_told_every,
                                         isatty(STDERR_FILENO) != 0 ? told_on_terminals : 0);
  if (amount == 0) return std::nullopt;
  detail::check_plan plan;
  plan.divisions = amount == 1 ? 0 : static_cast<std::uint64_t>(amount);
  plan.seed = o.check_seed != 0 ? o.check_seed : static_cast<std::uint32_t>(seed);
  if (plan.seed == 0)
    plan.seed = static_cast<std::uint32_t>(1 + machine::random_bits() % short_seeds);
  plan.told_every = std::chrono::seconds(told);
  return plan;
}

std::string found_by(const detail::checks& c, bool repeatable) {
  if (!repeatable)
    return "CLEAVE_CHECK: the function that was run gives another result at each call, undivided "
           "too, so it cannot be checked: does it change its own input, or a bound that it keeps?";
  std::string text =
      "CLEAVE_CHECK: the divided run gave another result than the undivided one: is a change of "
      "the workspace not a step, a put not a copy, or a closure not by value?";
  if (c.polls.most() != 0)
    text += " CLEAVE_CHECK=" + std::to_string(c.polls.most()) +
            " CLEAVE_CHECK_SEED=" + std::to_string(c.polls.seed()) + " divides at the same places.";
  return text;
}

}  // namespace cleave
