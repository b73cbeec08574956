#include "gravity/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial gravity() { return apps::gravity::trial_of(270); }

}  // namespace overhead
