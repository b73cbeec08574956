// A daemon's way to the others of its gang: the relay, and how far their clocks are ahead.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gang/clock_offset.hpp"
#include "gang/peers.hpp"

namespace gang {

// A link has a thread of its own, which alone sends and receives, and answers pings at once:
// however busy the daemon is, clocks are measured well. No function blocks; one thread calls all of
// them.
class link {
public:
  // Joins with a key file, or tries again for as long as it takes if nobody answers there. Throws
  // apps::usage_error if the key is none or is refused, std::runtime_error without NATS.
  static std::unique_ptr<link> make(const std::string& where);
  virtual ~link() = default;

  virtual const peers::name& self() const = 0;
  // A descriptor that is readable when there is something new.
  virtual int descriptor() const = 0;
  virtual bool is_joined() const = 0;

  struct heard {
    peers::name from;
    std::string topic;  // "": the sender has gone
    std::string text;
  };
  // What has come since the last call. Throws apps::usage_error if the key was refused meanwhile.
  virtual std::vector<heard> take() = 0;
  virtual void say(std::string_view topic, std::string text) = 0;

  // From this call on the clock of `leader` is measured.
  virtual void follow(const peers::name& leader) = 0;
  // How far the leader's clock is ahead; nothing before the first answer.
  virtual std::optional<clock_offset::estimate> ahead() const = 0;
};

inline moment now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace gang
