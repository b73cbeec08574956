#pragma once

#include "core/pool.hpp"

namespace cleave {

/// A run that a worker of another runtime asked for and waits for, while this lives. Made and
/// destroyed by that worker.
class nested_run {
public:
  /// Throws std::logic_error if all workers of the pool wait for the caller to return.
  nested_run(const detail::pool& called, const detail::task& root);
  ~nested_run();
  nested_run(const nested_run&) = delete;
  nested_run& operator=(const nested_run&) = delete;

private:
  const detail::task* const root_;
};

}  // namespace cleave
