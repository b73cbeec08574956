#include "cleave_groups.hpp"

#include "kernels/program.hpp"

CLEAVE_STUDY_PROGRAM(groups)
