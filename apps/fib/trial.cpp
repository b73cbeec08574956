#include "trial.hpp"

#include "../common/measure.hpp"
#include "fib.hpp"
#include "sequential.hpp"

namespace apps::fib {

trial trial_of(int n) {
  return make_trial([=] { return sequential::fib(n); }, [=] { return parallel::fib(n); },
                    [=](long found) {
                      return counted(static_cast<std::uint64_t>(found), "",
                                     static_cast<std::uint64_t>(expected(n)));
                    });
}

}  // namespace apps::fib
