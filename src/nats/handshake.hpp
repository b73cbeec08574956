#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace cleave::net::nats {

/// The TLS handshakes that nats.c makes in this thread while the object lives. nats.c waits in them
/// without a limit, and trusts whom the system trusts besides the key file's authority; both are
/// mended here, through OpenSSL's own callbacks.
///
/// Invariant: the watching thread touches a socket only between a handshake's begin and its end,
/// both of which OpenSSL says, and before nats.c closes the socket.
class handshake {
public:
  /// `authority`: the certificates, PEM, of which one has to vouch for the server; empty: nobody
  /// can. Throws std::invalid_argument if it is something else.
  handshake(const std::string& authority, std::chrono::milliseconds at_most);
  ~handshake();
  handshake(const handshake&) = delete;
  handshake& operator=(const handshake&) = delete;

  /// Whether a handshake was ended because it took too long.
  bool was_cut_off() const;
  /// Whether a handshake has begun. If none has after a connection was made, nats.c has another
  /// OpenSSL than Cleave.
  bool was_seen() const;

private:
  struct watch;
  friend struct callbacks;
  const std::unique_ptr<watch> watch_;
};

}  // namespace cleave::net::nats
