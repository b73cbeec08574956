#include "trial.hpp"

#include "../common/measure.hpp"
#include "compare.hpp"
#include "sequential.hpp"

namespace apps::compare {

trial trial_of(int n) {
  const parallel::input input{arrays(n)};
  const auto *a = input->a.data(), *b = input->b.data();
  return make_trial([=] { return sequential::compare(a, n, b, n); },
                    [=] { return parallel::part(input, 0, n, 0, n); },
                    [input](long found) {
                      return counted(static_cast<std::uint64_t>(found), " equal pairs",
                                     static_cast<std::uint64_t>(expected(*input)));
                    });
}

}  // namespace apps::compare
