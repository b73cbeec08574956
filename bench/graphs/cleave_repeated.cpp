// Cleave's graph, whose steps are made once and repeated.
#include "cleave.hpp"

CLEAVE_GRAPH_PROGRAM(bench::cleave_graph<true>)
