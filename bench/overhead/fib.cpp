#include "fib/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial fib() { return apps::fib::trial_of(40); }

}  // namespace overhead
