#include "trial.hpp"

#include "../common/measure.hpp"
#include "queens.hpp"
#include "sequential.hpp"

namespace apps::queens {

trial trial_of(int n) {
  auto on_new_board = [=](auto search) {
    return [=] {
      board b(n);
      return search(b);
    };
  };
  return make_trial(on_new_board([](board& b) { return sequential::search(b); }),
                    on_new_board([](board& b) { return parallel::search(b); }),
                    [=](std::uint64_t found) {
                      constexpr int known = 20;
                      return n <= known ? counted(found, " solutions", expected(n))
                                        : counted(found, " solutions");
                    });
}

}  // namespace apps::queens
