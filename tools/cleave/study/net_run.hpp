// The study of networks: short runs over each, in turn, again and again.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "forecast.hpp"
#include "net_cases.hpp"
#include "net_data.hpp"

namespace study::networks {

struct settings {
  std::filesystem::path cleave;  // this command; the programs are beside it
  choice what;
  std::optional<measured> goes_on;  // a study that was ended early; `what` does not count then
  int time_limit = 0;               // seconds; 0: none
};

struct listener {
  std::function<void(const step&)> begins;    // called before each run, and once at the end
  std::function<void(const measured&)> keep;  // told what there is so far, after each pass
};

// On SIGINT, SIGTERM and after the time limit it returns what the whole passes have given, and what
// one more has. Throws std::runtime_error if nothing was measured.
measured run_study(const settings& asked, const listener& to);

}  // namespace study::networks
