#include "core/guest.hpp"

#include "core/pool.hpp"
#include "machine/floating_point.hpp"
#include "machine/futex.hpp"

#include <cleave/detail/clock.hpp>

#include <sched.h>
#include <utility>

namespace cleave::detail {

guest::guest(pool& of, std::size_t stack_bytes) : of_(of), stack_(stack_bytes) {
  itself().box().have_owners_in_turn();
}

worker& guest::itself() const noexcept { return of_.at(of_.size()); }
worker& guest::reserve() const noexcept { return of_.at(of_.size() - 1); }

struct guest::call {
  guest& of;
  task& root;
};

bool guest::take_seat() noexcept {
  constexpr int most = 200;  // looks at a reserve that is asked to leave
  for (int k = 0; k < most; ++k) {
    const auto by = seat_.take();
    if (by == seat<native>::nobody) return true;
    if (by == seat<native>::guest || of_.has_work()) return false;
    if (k == 0) reserve().box().ring(news);
    if (k % 20 == 19) sched_yield();
    else machine::pause();
  }
  return false;
}

bool guest::run(task& root) noexcept {
  of_.meeting.fetch_first_asker();
  if (!take_seat()) return false;
  call what{*this, root};
  stack_.run(&begin, &what);
  seat_.leave([this] { return of_.has_work(); }, reserve().box());
  return true;
}

void guest::begin(void* of_call) noexcept {
  auto& what = *static_cast<call*>(of_call);
  what.of.compute(what.root);
}

/// What the thread was in, and its polls, are put aside: inside, it is a worker with nothing on its
/// stack.
void guest::compute(task& root) noexcept {
  worker& self = itself();
  here.floating = root.floating;  // the thread computes so: worker::run() need not set it
  frame* const innermost = std::exchange(here.innermost, nullptr);
  scope* const current = std::exchange(here.current, nullptr);
  const std::uintptr_t cutoff = here.cutoff.load(std::memory_order_relaxed);
  here.self = &self;
  auto& computing = of_.meeting.computing;
  const bool first =
      self.box().take_over(here.word, here.cutoff, [&] { return computing.set(self.id); });
  if (first && of_.others() != nullptr) of_.others()->begun();
  bool asleep = true;
  int looks = 0;  // some are enough, as there may be many
  of_.meeting.askers.visit(0, [&](unsigned i) {
    asleep = of_.meeting.box(i).is_asleep();
    return !asleep || ++looks == 4;
  });
  const std::uint64_t now = habits_.times_next() ? ticks() : 0;
  given_ = 0;
  const std::uint64_t ended = self.run_as_guest(root, now, habits_.begin(now, asleep));
  const std::uint64_t warm = now != 0 ? habits_.end(ended, given_ != 0) : 0;
  if (warm != 0) expected_until_.store(ended + warm, std::memory_order_relaxed);
  if (const bool are = habits_.are_short(); are != runs_are_short())
    runs_are_short_.store(are, std::memory_order_relaxed);
  self.box().part([&] { computing.clear(self.id); });
  here.self = nullptr;
  here.innermost = innermost, here.current = current;
  here.cutoff.store(cutoff, std::memory_order_relaxed);
  // Acquire: partner of a cancellation that has rung. pool::run() looks for its mark.
  if (here.word.load(std::memory_order_relaxed) != 0)
    here.word.exchange(0, std::memory_order_acq_rel);
  here.floating = 0;
  machine::set_floating_environment(root.floating);
}

void guest::sit_out() noexcept {
  seat_.sit_out([this] { return of_.stopping.load(std::memory_order_acquire) || of_.has_work(); },
                reserve().box(), [this] { reserve().answer_while_waiting(); });
}

void guest::gave_part() noexcept {
  if (++given_ == 2 && runs_are_short()) runs_are_short_.store(false, std::memory_order_relaxed);
}

void guest::wake_reserve() noexcept { seat_.wake(reserve().box()); }

bool guest::is_expected() const noexcept {
  const std::uint64_t until = expected_until_.load(std::memory_order_relaxed), now = ticks();
  return now < until && until - now < ticks_per_microsecond() * 1000;
}

}  // namespace cleave::detail
