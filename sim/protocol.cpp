#include "sim/core.hpp"
#include "net/protocol_impl.hpp"

template class cleave::net::node<cleave::net::planted_mutation>;
