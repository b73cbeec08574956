// What the thesis on a cluster of workstations found, and whether it is so here.
#pragma once

#include <string>
#include <vector>

#include "net_data.hpp"

namespace study::networks {

struct finding {
  enum class verdict { unknown, holds, fails };
  std::string paper;    // what was found there
  std::string network;  // whose figures these are
  std::string here;     // the figures here
  verdict is = verdict::unknown;

  std::string in_words() const;  // yes, no, or nothing where there is nothing to judge
};

// One for each network and each thing that was measured. Nothing is judged if the machine was
// disturbed.
std::vector<finding> findings_of(const measured& m);

}  // namespace study::networks
