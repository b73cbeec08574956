// What changed between two studies, beyond noise.
#pragma once

#include "measured.hpp"

namespace study {

struct change {
  std::string kernel, system;
  int workers;
  double before, after;  // medians, in seconds
  std::string note;      // or what else changed
};

// The cells of both whose medians differ by more than `least` (a ratio, 1.05: five per cent) and
// whose middle halves do not overlap; and those that failed in one of them only. The largest
// changes first.
std::vector<change> changes(const measured& before, const measured& after, double least = 1.05);

}  // namespace study
