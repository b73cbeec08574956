#include "pentomino/trial.hpp"

#include "kernels.hpp"

namespace overhead {

apps::trial pentomino() { return apps::pentomino::default_trial(); }

}  // namespace overhead
