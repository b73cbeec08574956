#include "protocol/protocol_impl.hpp"
#include "sim/core.hpp"

template class cleave::net::node<cleave::net::planted_mutation>;
