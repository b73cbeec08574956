// The study of networks: short runs over each, in turn, again and again.
#pragma once

#include "net_cases.hpp"
#include "net_data.hpp"
#include "passes.hpp"

namespace study::networks {

using settings = settings_of_passes<choice, measured>;
using listener = listener_to_passes<measured>;

// On SIGINT, SIGTERM and after the time limit it returns what the whole passes have given, and what
// one more has. Throws std::runtime_error if nothing was measured.
measured run_study(const settings& asked, const listener& to);

}  // namespace study::networks
