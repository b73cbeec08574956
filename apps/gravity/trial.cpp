#include "trial.hpp"

#include <cstdio>

#include "../common/measure.hpp"
#include "gravity.hpp"
#include "sequential.hpp"

namespace apps::gravity {

namespace {

std::string text_of(const vec3& f) {
  char text[100];
  std::snprintf(text, sizeof text, "%.9g %.9g %.9g", f.x, f.y, f.z);
  return text;
}

}  // namespace

trial trial_of(int n) {
  const particles p(n);
  return make_trial([=] { return sequential::force(p); }, [=] { return parallel::force(p); },
                    [=](const vec3& found) {
                      answer a{std::vector{found.x, found.y, found.z}, text_of(found)};
                      const vec3 right = expected(p);
                      if (!(length(found - right) <= 1e-5 * length(right)))
                        a.wrong = text_of(right);
                      return a;
                    });
}

}  // namespace apps::gravity
