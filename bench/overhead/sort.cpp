#include "sort/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial sort() { return apps::sort::trial_of(10'000'000); }

}  // namespace overhead
