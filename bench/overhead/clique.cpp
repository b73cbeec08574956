#include "clique/trial.hpp"

#include "kernels.hpp"

namespace overhead {

// Starts from the optimum, so that all runs prove the same and visit comparable nodes.
apps::trial clique(std::string_view graph, int optimum) {
  return apps::clique::trial_of(apps::clique::generate(graph).value(), optimum, optimum);
}

}  // namespace overhead
