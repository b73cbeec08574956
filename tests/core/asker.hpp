#pragma once

#include "core/pool.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace cleave::tests {

/// Asks the only worker of a runtime as another one would, and has no thread: it is answered when
/// that worker polls, and never between two lines of a test. Called on that worker.
class asker {
  using native = detail::native;

public:
  /// `number`: 1 for the first one besides the runtime's workers, and so on; all are below 64.
  explicit asker(unsigned number) noexcept
      : self_{detail::here.self->of.meeting, box_, detail::here.self->of.places() - 1 + number} {
    self_.of.boxes[self_.id] = &box_;
  }
  ~asker() {
    if (request_ && !request_->withdraw()) request_->collect();
    self_.of.boxes[self_.id] = nullptr;
  }
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;

  /// Asks for a part of that scope, or of anything.
  void ask(const detail::scope* wanted = nullptr) noexcept {
    request_.emplace(self_, wanted, 0, true);
  }
  /// Whether there is an answer to its last request: a task, or that its owner took it back.
  bool is_answered() const noexcept { return request_ && request_->has_answer(); }
  /// The task that it was given; null: there was none, or its owner took it back.
  detail::task* take() noexcept {
    if (!is_answered()) return nullptr;
    auto* const t = reinterpret_cast<detail::task*>(request_->collect());
    request_.reset();
    return t;
  }
  /// Takes the task and runs it here. Whether there was one.
  bool run() noexcept {
    detail::task* const t = take();
    if (t != nullptr) detail::here.self->execute(*t);
    return t != nullptr;
  }

private:
  native::atomic<std::uint32_t> word_{0};
  native::cutoff cutoff_{0};
  detail::mailbox<native> box_{word_, cutoff_};
  const detail::member<native> self_;
  std::optional<detail::open_request<native>> request_;
};

}  // namespace cleave::tests
