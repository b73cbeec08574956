#include "gang/channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/command_line.hpp"

namespace gang {
namespace {

constexpr std::size_t longest_message = 64 << 10;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw apps::usage_error(fmt::format("--socket: '{}': {}", path, what));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    refuse(path, fmt::format("expected at most {} letters", sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

channel new_socket() { return channel(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

}  // namespace

channel::~channel() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool channel::send(const nlohmann::json& message) const {
  const std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto sent = ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(text.size());
}

std::optional<nlohmann::json> channel::receive() const {
  std::string text(longest_message, '\0');
  ssize_t got;
  do got = recv(descriptor_, text.data(), text.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  auto message = nlohmann::json::parse(text.begin(), text.begin() + got, nullptr, false);
  if (!message.is_object()) return std::nullopt;
  return message;
}

uid_t channel::user() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known ? peer.uid : static_cast<uid_t>(-1);
}

std::string default_socket() {
  if (const char* const path = std::getenv("CLEAVE_GANG_SOCKET"); path != nullptr && *path)
    return path;
  if (const char* const folder = std::getenv("XDG_RUNTIME_DIR"); folder != nullptr && *folder)
    return std::string(folder) + "/cleave-gang";
  if (geteuid() == 0) return "/run/cleave-gang";
  throw apps::usage_error("--socket: expected a path, got none, and XDG_RUNTIME_DIR is not set");
}

channel listen_at(const std::string& path, channel& lock) {
  const sockaddr_un address = address_of(path);
  lock = channel(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.descriptor() < 0) refuse(path, std::strerror(errno));
  struct stat of_lock {};
  if (fstat(lock.descriptor(), &of_lock) != 0 || of_lock.st_uid != geteuid())
    refuse(path, path + ".lock is another user's");
  if (flock(lock.descriptor(), LOCK_EX | LOCK_NB) != 0) refuse(path, "another daemon serves it");
  struct stat of_path {};
  if (lstat(path.c_str(), &of_path) == 0 && !S_ISSOCK(of_path.st_mode))
    refuse(path, "expected a socket or nothing there");
  unlink(path.c_str());  // a daemon that was killed has left it
  channel listener = new_socket();
  const mode_t before = umask(0177);  // before anybody can open it
  const int bound =
      bind(listener.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  umask(before);
  if (bound != 0) refuse(path, std::strerror(error));
  if (listen(listener.descriptor(), SOMAXCONN) != 0) refuse(path, std::strerror(errno));
  return listener;
}

channel connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  channel daemon = new_socket();
  const timeval longest{10, 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    setsockopt(daemon.descriptor(), SOL_SOCKET, option, &longest, sizeof longest);
  if (connect(daemon.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0)
    refuse(path,
           fmt::format("no daemon there: {} (start one: cleave gang serve)", std::strerror(errno)));
  // Whoever listens there stops and ends jobs. Root commands everybody's.
  const uid_t me = geteuid(), other = daemon.user();
  if (me != 0 && other != me && other != 0) refuse(path, "another user's daemon");
  return daemon;
}

channel accept_from(const channel& listener) {
  return channel(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace gang
