#pragma once

#include "nats/subjects.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cleave::net::nats {

struct letter {
  endpoint from;        ///< as the relay lets it be said: from the subject, which permissions limit
  bool to_all = false;  ///< or to this process
  std::string topic;    ///< what it is: of a direct one one token, else several, with dots
  bool nobody = false;  ///< the relay's word: nothing is listened to there
  std::vector<std::byte> content;
  bool unfinished = false;  ///< a part of a longer one has come: there are no contents yet
};

/// To standard error, unless whoever reads that rests: nobody here may wait for them. Any thread.
void say_if_read(const std::string& line) noexcept;

/// Where nats.c's threads leave what they have for a connection's: letters, and the suspicion that
/// it is lost.
///
/// Invariant: `bytes_` is what the letters in `letters_` hold, at most 1 GiB; what would exceed
/// that is dropped, and that is said once. Once closed it stays so, and whoever waits as the keeper
/// goes on. It outlives the connection for as long as a thread of nats.c has it.
class inbox {
public:
  // Threads of nats.c.

  void put(letter one);
  void suspect() noexcept;

  // Any thread.

  /// Ends a wait().
  void ring() noexcept;
  void close() noexcept;

  // Whoever receives.

  std::optional<letter> take();
  enum class woken { not_asleep, by_somebody, by_time };
  /// Until there is a letter, or ring() was called since the last wait, or the time is up.
  woken wait(std::chrono::microseconds at_most);

  // The keeper.

  /// Until the connection may be lost, or it is time to look. False: closed.
  bool wait_for_suspicion(std::chrono::milliseconds at_most);
  /// False: closed.
  bool pause(std::chrono::milliseconds at_most);

private:
  std::mutex mutex_;
  std::condition_variable arrived_, for_keeper_;
  std::deque<letter> letters_;
  std::size_t bytes_ = 0;
  bool rung_ = false, overflown_ = false, suspect_ = false, closed_ = false;
};

}  // namespace cleave::net::nats
