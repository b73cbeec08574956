#include "lu/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial lu() { return apps::lu::trial_of(2500); }

}  // namespace overhead
