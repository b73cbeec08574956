// What nats-server writes to its log, made short: each stranger that it refuses once, with who and
// why, however often he knocks; what it says of itself.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "relay/folder.hpp"

namespace relay {

class log {
public:
  enum class event { none, ready, reloaded, not_reloaded };
  struct heard {
    std::string say;  // a line for people; empty: nothing
    event what = event::none;
  };

  // Tells the log which keys the relay knows.
  void know(const configuration& c);
  // Reads one line, without its end.
  heard read(std::string_view line, std::chrono::steady_clock::time_point now);

private:
  struct refusals {
    std::chrono::steady_clock::time_point said;
    long times = 0;  // how often it has happened since then
  };

  std::string name_of(const std::string& key) const;
  // What is to be said of a stranger; "" if it was said within the last hour.
  std::string once(const std::string& who, const std::string& why,
                   std::chrono::steady_clock::time_point now, const std::string& more = "");
  std::string refused(std::string_view address, std::string_view what,
                      std::chrono::steady_clock::time_point now);

  std::map<std::string, std::string> names_, revoked_;
  std::map<std::string, refusals> refused_;
  std::map<std::string, int> keys_;  // how many unknown keys each address has tried
  bool full_ = false;
};

}  // namespace relay
