// What the thesis on a cluster of workstations found of searchers that collect tours, and whether
// it is so here. Source: H. Okuno, Fast parallel processing by workstation clusters (1998, in
// Japanese, hdl.handle.net/10119/1123), section 4.4.
#pragma once

#include <string>
#include <vector>

#include "tsp_data.hpp"

namespace study::tours {

struct finding {
  enum class verdict { unknown, holds, fails };
  std::string paper;  // what was found there
  std::string here;   // the figures here
  verdict is = verdict::unknown;

  std::string in_words() const;  // yes, no, or nothing where there is nothing to judge
};

// One for each thing that was measured. Nothing is judged if the machine was disturbed, nor with
// fewer than 8 searchers, as then all organisations are nearly alike.
std::vector<finding> findings_of(const measured& m);

}  // namespace study::tours
