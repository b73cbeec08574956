// Those who give and keep turns run as soon as they wake, however many jobs spin.
#pragma once

namespace gang {

// The calling thread goes before those that compute: by real-time scheduling if this user may, else
// by a short slice where the kernel knows that (Linux 6.12). So do threads and processes that it
// makes from then on, or `alone` none of them.
void be_prompt(bool alone) noexcept;

// How a thread is scheduled, but for its slice.
struct scheduling {
  int policy = 0, priority = 0, nice = 0;
};
// The calling thread.
scheduling own_scheduling() noexcept;
// The calling thread, as far as it may.
void be_scheduled(const scheduling& how) noexcept;

}  // namespace gang
