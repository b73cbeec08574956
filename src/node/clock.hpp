#pragma once

#include <chrono>

#include "protocol/core_port.hpp"

namespace cleave::net {

/// The protocol's time in a real node.
inline instant now() noexcept {
  return std::chrono::duration_cast<instant>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace cleave::net
