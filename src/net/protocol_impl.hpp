#pragma once

/// All of node's code, for who instantiates it: the library, without a mutation, and the simulator,
/// with any.
#include <algorithm>
#include <utility>

#include "net/protocol_asking.hpp"
#include "net/protocol_messages.hpp"
#include "net/protocol_time.hpp"
