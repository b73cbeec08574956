// For programs that measure where nodes come and go.
#pragma once

#include <chrono>
#include <cleave/runtime.hpp>
#include <stdexcept>
#include <thread>

namespace apps {

// Blocks until the job has so many nodes and all answer. Throws std::runtime_error after a minute.
inline void await_nodes(cleave::runtime& rt, unsigned nodes) {
  const auto last_call = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (rt.job().nodes < nodes || rt.job().silent > 0) {
    if (std::chrono::steady_clock::now() > last_call)
      throw std::runtime_error("not all nodes have come");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace apps
