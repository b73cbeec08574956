#include "uts/trial.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace overhead {

apps::trial uts(std::string_view tree) {
  using apps::uts::samples;
  return apps::uts::trial_of(*std::find_if(std::begin(samples), std::end(samples),
                                           [=](const auto& s) { return s.name == tree; }));
}

}  // namespace overhead
