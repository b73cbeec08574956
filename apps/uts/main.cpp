#include <algorithm>

#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  using namespace apps::uts;
  std::string name;
  apps::driver app(
      "uts", "Counts the nodes of an unbalanced tree, whose shape shows only as it is walked.",
      "uts T1 --workers 2",
      "T1, T2, T3 and T5 have about 4 million nodes, T1L and T3L about 100 million.\n");
  std::vector<std::string> names;
  for (const sample& s : samples) names.emplace_back(s.name);
  app.choice("TREE", name, names, "which tree: T1, T1L, T2, T3, T3L or T5");
  app.parse(argc, argv);
  const sample& chosen = *std::find_if(std::begin(samples), std::end(samples),
                                       [&](auto& s) { return s.name == name; });
  return app.run(trial_of(chosen));
} catch (...) { return apps::failed("uts"); }
