#include "node/sleeping.hpp"

#include <algorithm>

namespace cleave::net {
namespace {

/// If a worker that watches does not look, the thread does.
constexpr instant longest_without_look{1'000};

}  // namespace

void sleeping::sleep(std::unique_lock<std::mutex>& stepping) {
  auto at_most = work_.time_to_sleep(now());
  naps_.store(false, std::memory_order_seq_cst);  // before the look at kept_: see keep_watch
  if (kept_.load(std::memory_order_seq_cst)) {
    at_most = std::min(at_most, longest_without_look);
    naps_.store(true, std::memory_order_relaxed);
  }
  sleeps_until_ = now() + at_most;
  stepping.unlock();
  carries_.wait(at_most);
  stepping.lock();
}

bool sleeping::begin_watch() noexcept {
  // Acquire, release: the transport's part of it goes from one to the next.
  if (watched_.exchange(true, std::memory_order_acquire)) return false;
  if (carries_.begin_watch()) return true;
  watched_.store(false, std::memory_order_release);
  return false;
}

bool sleeping::look() noexcept {
  if (!carries_.look()) return false;
  if (work_.is_over()) return wake_thread(), false;
  const std::unique_lock stepping(stepping_, std::try_to_lock);
  if (!stepping || !is_going_) return false;  // the thread is awake
  // If nobody has rung, what has come is a graph's mostly; then the thread sleeps on.
  if (!carries_.was_rung() && work_.hear_members()) return true;
  constexpr int often = 4;
  for (int i = 0; i < often; ++i) {
    if (!work_.step_and_fall_asleep()) continue;
    if (now() + work_.time_to_sleep(now()) >= sleeps_until_) return true;
    break;
  }
  wake_thread();  // the thread sleeps too long, or there is more to do
  return true;
}

/// Called by the worker that watches: a ring alone wakes nobody before that worker looks again.
void sleeping::wake_thread() noexcept {
  carries_.end_watch();
  carries_.ring();
}

void sleeping::keep_watch() noexcept {
  if (kept_.load(std::memory_order_relaxed)) return;
  // The thread sees the one, or this one sees the other. Partner: sleep().
  kept_.store(true, std::memory_order_seq_cst);
  if (!naps_.load(std::memory_order_seq_cst)) wake_thread();
}

void sleeping::end_watch() noexcept {
  kept_.store(false, std::memory_order_relaxed);
  carries_.end_watch();
  watched_.store(false, std::memory_order_release);
}

}  // namespace cleave::net
