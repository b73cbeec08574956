#include "compare/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial compare() { return apps::compare::trial_of(30'000); }

}  // namespace overhead
