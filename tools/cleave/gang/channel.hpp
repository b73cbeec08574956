// What the gang's daemon and its clients say to each other: JSON objects, one in each packet of a
// Unix socket that only its owner and root can open.
#pragma once

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

namespace gang {

class channel {
public:
  explicit channel(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  ~channel();
  channel(channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  channel& operator=(channel&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  int descriptor() const noexcept { return descriptor_; }
  // Sends a message. False if the other side is gone, or does not read what it is sent. Never
  // blocks.
  bool send(const nlohmann::json& message) const;
  // Blocks until there is a message. Returns nothing if the other side is gone, the message was no
  // JSON object, or a daemon says nothing for 10 s.
  std::optional<nlohmann::json> receive() const;
  // The user at the other side, by the kernel's word.
  uid_t user() const;

private:
  int descriptor_;
};

// The path of this user's daemon: $CLEAVE_GANG_SOCKET, $XDG_RUNTIME_DIR/cleave-gang, or
// /run/cleave-gang for root. Throws apps::usage_error if there is no such place.
std::string default_socket();

// The daemon's end, mode 600. Throws apps::usage_error if another daemon serves it or it cannot be
// made. `lock` is held as long as the socket is served.
channel listen_at(const std::string& path, channel& lock);
// A client's end. Throws apps::usage_error if no daemon is there, another user's, or one that has
// taken nobody in for 10 s.
channel connect_to(const std::string& path);
// The next client, after the listener became readable; descriptor -1 if it has gone again.
channel accept_from(const channel& listener);

}  // namespace gang
