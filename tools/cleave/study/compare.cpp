#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace study {

std::vector<change> changes(const measured& before, const measured& after, double least) {
  std::vector<change> found;
  for (const cell& b : before.cells) {
    const cell* const now = after.find(b.kernel, b.system, b.workers);
    if (now == nullptr) continue;
    const cell& a = *now;
    if (a.failed.empty() != b.failed.empty()) {
      found.push_back({a.kernel, a.system, a.workers, 0, 0,
                       a.failed.empty() ? "no longer fails: " + b.failed : "fails: " + a.failed});
      continue;
    }
    if (!a.failed.empty() || a.arguments != b.arguments) continue;
    const double old_time = median(b.seconds), new_time = median(a.seconds);
    const bool apart = quantile(a.seconds, 0.25) > quantile(b.seconds, 0.75) ||
                       quantile(a.seconds, 0.75) < quantile(b.seconds, 0.25);
    if (apart && std::max(old_time / new_time, new_time / old_time) > least)
      found.push_back({a.kernel, a.system, a.workers, old_time, new_time, ""});
  }
  auto size = [](const change& c) {
    return c.note.empty() ? std::abs(std::log(c.after / c.before)) : HUGE_VAL;
  };
  std::sort(found.begin(), found.end(), [&](const change& x, const change& y) {
    const double one = size(x), other = size(y);
    if (one != other) return one > other;
    return std::tie(x.kernel, x.system, x.workers) < std::tie(y.kernel, y.system, y.workers);
  });
  return found;
}

}  // namespace study
