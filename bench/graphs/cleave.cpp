// Cleave's graph, of which each subtask is made.
#include "cleave.hpp"

CLEAVE_GRAPH_PROGRAM(bench::cleave_graph<false>)
