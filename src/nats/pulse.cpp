#include "nats/pulse.hpp"

#include "machine/without_signals.hpp"

namespace cleave::net::nats {

// A wait ends after so many milliseconds of the wall clock, and begins again.
constexpr std::int64_t longest_trip = 3'600'000;

pulse::pulse(natsConnection* of, std::chrono::milliseconds every) : of_(of), every_(every) {
  const cleave::machine::without_signals blocked;
  thread_ = std::thread([this] { beat(); });
}

pulse::~pulse() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void pulse::beat() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    asked_.wait_for(lock, every_, [this] { return over_ || wanted_ > done_; });
    if (over_) break;
    begun_ = ++last_;
    begun_at_ = clock::now();
    lock.unlock();
    natsStatus s = NATS_TIMEOUT;  // a wait ends so also where the wall clock is set forward
    while (s == NATS_TIMEOUT) s = natsConnection_FlushTimeout(of_, longest_trip);
    lock.lock();
    if (s == NATS_OK) done_ = begun_;
    else over_ = true;
    begun_ = 0;
    answered_.notify_all();
  }
}

bool pulse::flush(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  const std::uint64_t next = last_ + 1;
  wanted_ = next;
  asked_.notify_one();
  answered_.wait_for(lock, at_most, [&] { return over_ || done_ >= next; });
  return done_ >= next;
}

bool pulse::is_silent() const {
  const std::lock_guard lock(mutex_);
  return begun_ != 0 && clock::now() - begun_at_ > 3 * every_;
}

}  // namespace cleave::net::nats
