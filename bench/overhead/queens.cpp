#include "queens/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial queens() { return apps::queens::trial_of(14); }

}  // namespace overhead
