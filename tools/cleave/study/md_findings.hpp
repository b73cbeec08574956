// What the paper on Parsley found of molecular dynamics by dependences, and whether it is so here.
// Source: Sekijima, Takasaki, Nakamura, Ikeguchi, Shimizu, "Parsley: a scalable framework for
// dependence-driven subtask scheduling in distributed-memory multiprocessor systems" (1999, in
// Japanese), section 5.
#pragma once

#include <string>
#include <vector>

#include "md_data.hpp"

namespace study::dynamics {

struct finding {
  enum class verdict { unknown, holds, fails };
  std::string paper;   // what was found there
  std::string system;  // of what was measured here
  std::string here;    // the figures here
  verdict is = verdict::unknown;

  std::string in_words() const;  // yes, no, or nothing where there is nothing to judge
};

// For each thing that was found one for each system. Nothing is judged if the machine was
// disturbed, nor what is said of many nodes where fewer than 32 were simulated.
std::vector<finding> findings_of(const measured& m);

}  // namespace study::dynamics
