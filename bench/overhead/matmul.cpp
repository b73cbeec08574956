#include "matmul/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial matmul() { return apps::matmul::trial_of(1500); }

}  // namespace overhead
