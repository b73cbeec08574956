// Programs whose team_graph follows a plan, or records one.
#pragma once

#include <string>

#include "driver.hpp"

namespace apps {

// The option --plan, as all programs have it.
void add_plan_option(driver& app, std::string& plan);

// Runs it as driver::run() does. A plan that cannot be used is a usage_error; if one could not be
// written, a line has said so, and the exit status is 1.
int run_planned(driver& app, const trial& once, const std::string& plan);

}  // namespace apps
