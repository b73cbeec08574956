#include "protocol/protocol_impl.hpp"

namespace cleave::net {

template class node<no_mutation>;

}  // namespace cleave::net
