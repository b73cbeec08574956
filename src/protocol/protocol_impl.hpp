#pragma once

/// All of node's code, for who instantiates it: the library, without a mutation, and the simulator,
/// with any.
#include <algorithm>
#include <utility>

#include "protocol/protocol_asking.hpp"
#include "protocol/protocol_messages.hpp"
#include "protocol/protocol_time.hpp"
