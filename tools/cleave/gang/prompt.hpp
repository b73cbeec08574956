// Threads that give and keep turns run as soon as they wake, however many jobs spin.
#pragma once

namespace gang {

// Makes the calling thread go before those that compute: by real-time scheduling if this user may,
// else by a short slice where the kernel knows that (Linux 6.12). So do threads and processes that
// it makes from then on, or `alone` none of them.
void be_prompt(bool alone) noexcept;

// How a thread is scheduled, except for its slice.
struct scheduling {
  int policy = 0, priority = 0, nice = 0;
};
// How the calling thread is scheduled.
scheduling own_scheduling() noexcept;
// Schedules the calling thread so, as far as it may.
void be_scheduled(const scheduling& how) noexcept;

}  // namespace gang
