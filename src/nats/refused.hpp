#pragma once

#include <stdexcept>

/// Why there is no connection. The text of each error is one line that names the URL.
namespace cleave::net::nats {

/// The connection would be refused again: a wrong key, a wrong certificate, no TLS.
struct refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The key itself is not taken.
struct key_refused : refused {
  using refused::refused;
};
/// Nobody answers there, or not in time.
struct unreachable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace cleave::net::nats
