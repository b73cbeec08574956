#include "cosched/turn_watch.hpp"

#include <chrono>
#include <system_error>

#include "cosched/clock.hpp"
#include "machine/futex.hpp"
#include "machine/without_signals.hpp"

namespace cleave::cosched {
namespace {

/// The rank may have slept when the turn began, and go on before it is over.
constexpr std::chrono::milliseconds look_again{2};
/// Ranks that compute for long must not be thought gone.
constexpr std::chrono::milliseconds tell_each{100};

}  // namespace

void turn_watch::begin(turns& of_rank, turn_board& shared) noexcept {
  board_ = &shared;
  const machine::without_signals quiet;
  try {
    thread_ = std::thread([this, &of_rank] { watch(of_rank); });
  } catch (const std::system_error&) { return; }
}

turn_watch::~turn_watch() {
  if (!thread_.joinable()) return;
  end_.store(true, std::memory_order_relaxed);
  board_->bell.fetch_add(1, std::memory_order_release);  // after end_; partner: watch()
  machine::wake_shared(board_->bell);
  thread_.join();
}

void turn_watch::watch(turns& of_rank) noexcept {
  for (;;) {
    const std::uint32_t bell = board_->bell.load(std::memory_order_acquire);  // partner: change
    if (end_.load(std::memory_order_relaxed)) return;
    of_rank.tell_seldom(now());
    const bool late = of_rank.is_late();
    if (late) rank_.interrupt();
    machine::block_shared(board_->bell, bell, late ? look_again : tell_each);
  }
}

}  // namespace cleave::cosched
