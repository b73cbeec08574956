#include "planned.hpp"

#include <cleave/runtime.hpp>
#include <cleave/team.hpp>
#include <filesystem>

namespace apps {

void add_plan_option(driver& app, std::string& plan) {
  app.option("--plan", "FILE", plan,
             "Record the run in that file; if it is there, run the subtasks where it says is best");
}

int run_planned(driver& app, const trial& once, const std::string& plan) try {
  const int status = app.run(once);
  const bool plans = !plan.empty() && !app.is_given("--sequential") && cleave::is_first_node();
  return status == 0 && plans && !std::filesystem::exists(plan) ? 1 : status;
} catch (const cleave::plan_error& e) { throw usage_error(std::string("--plan: ") + e.what()); }

}  // namespace apps
