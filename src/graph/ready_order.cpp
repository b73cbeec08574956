#include <cleave/detail/graph/graph.hpp>

#include <algorithm>
#include <utility>

#include "graph/lending.hpp"

namespace cleave::detail {

namespace {
/// Puts the earliest subtask on top of a heap.
constexpr auto is_later = [](subtask* a, subtask* b) noexcept {
  return a->in_graph().number > b->in_graph().number;
};
}  // namespace

subtask* ready_order::add(subtask& s) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(&s);
  std::ranges::push_heap(waiting_, is_later);
  count_.store(waiting_.size(), std::memory_order_relaxed);
  if (in_turn_ == workers_) return nullptr;
  ++in_turn_;
  return earliest();
}

subtask* ready_order::take_next() noexcept {
  const std::lock_guard guard(mutex_);
  if (!waiting_.empty()) return earliest();
  --in_turn_;
  return nullptr;
}

unsigned ready_order::room() noexcept {
  const std::lock_guard guard(mutex_);
  return workers_ - in_turn_;
}

subtask* ready_order::take(
    const std::function<std::optional<std::size_t>(std::span<subtask* const>)>& choose) {
  const std::lock_guard guard(mutex_);
  const auto at = choose(waiting_);
  if (!at) return nullptr;
  subtask* const s = std::exchange(waiting_[*at], waiting_.back());
  waiting_.pop_back();
  std::ranges::make_heap(waiting_, is_later);
  count_.store(waiting_.size(), std::memory_order_relaxed);
  return s;
}

bool ready_order::has(const std::function<bool(std::span<subtask* const>)>& holds) {
  const std::lock_guard guard(mutex_);
  return holds(waiting_);
}

/// Called with the mutex, if one waits.
subtask* ready_order::earliest() noexcept {
  std::ranges::pop_heap(waiting_, is_later);
  subtask* const s = waiting_.back();
  waiting_.pop_back();
  count_.store(waiting_.size(), std::memory_order_relaxed);
  s->in_turn_ = true;
  return s;
}

void graph_scope::order_ready() {
  if (order_ == nullptr) order_ = std::make_unique<ready_order>(workers_of(*this));
}

void graph_scope::start_in_order(subtask& s) {
  if (lends != nullptr) return lends->start_in_order(s);
  std::unique_ptr<subtask> owned(&s);
  subtask* const next = order_->add(s);
  static_cast<void>(owned.release());  // the order owns it
  if (next != nullptr) spawn(*next);
}

void graph_scope::end_turn() noexcept {
  subtask* const next = order_->take_next();
  if (next != nullptr) {
    const std::uint64_t number = next->in_graph().number;
    try {
      spawn(*next);
    } catch (const cancelled&) {
      // wait() tells.
    } catch (...) { keep(number, std::current_exception()); }
  }
  if (lends != nullptr) order_->waiting() == 0 ? lends->is_idle() : lends->has_spare();
}

}  // namespace cleave::detail
