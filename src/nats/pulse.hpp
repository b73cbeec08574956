#pragma once

#include <nats/nats.h>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace cleave::net::nats {

/// Round trips to the relay over one connection of nats.c, timed by the steady clock. nats.c times
/// its pings, and whoever waits for an answer, by the wall clock: where that is set back by days,
/// neither ends for days.
///
/// Invariant: a thread of this object alone waits in nats.c, for one round trip at a time, without
/// a limit that anybody relies on; others wait for that thread. `begun_` is 0, or the trip that is
/// under way; `done_` is the last one that has come back.
class pulse {
public:
  using clock = std::chrono::steady_clock;

  /// A round trip each `every`, as long as the connection is there.
  pulse(natsConnection* of, std::chrono::milliseconds every);
  /// Destroyed once the connection is closed, which ends the thread's wait.
  ~pulse();
  pulse(const pulse&) = delete;
  pulse& operator=(const pulse&) = delete;

  /// Blocks until a round trip that has begun after this call is done: the relay has all that was
  /// said before. False: the time is up, or the connection has ended.
  bool flush(std::chrono::milliseconds at_most);
  /// Whether there was no answer for three times `every`.
  bool is_silent() const;

private:
  void beat();

  natsConnection* const of_;
  const std::chrono::milliseconds every_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable asked_, answered_;
  std::uint64_t wanted_ = 0, begun_ = 0, done_ = 0;
  std::uint64_t last_ = 0;  // the last trip that has begun
  clock::time_point begun_at_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace cleave::net::nats
