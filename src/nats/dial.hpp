#pragma once

#include "nats/access.hpp"
#include "nats/refused.hpp"

#include <nats/nats.h>
#include <chrono>
#include <memory>
#include <string>

/// One connection of nats.c, made as all of Cleave's are: by TLS and key, no second try, no
/// collecting of what is sent, and no pings, which nats.c times by the wall clock.
namespace cleave::net::nats {

struct nats_closed {
  void operator()(natsConnection* c) const {
    natsConnection_Close(c);
    natsConnection_Destroy(c);
  }
};
using nats_connection = std::unique_ptr<natsConnection, nats_closed>;

struct dialling {
  std::string name;  ///< the name of this connection in the server's log
  /// The limit for each of TCP connection, greeting, TLS and key.
  std::chrono::milliseconds answer_within{2000};
  std::chrono::milliseconds write_within{1000};
  natsErrHandler on_error = nullptr;  ///< called in threads of nats.c
  natsConnectionHandler on_closed = nullptr;
  void* closure = nullptr;
};

/// Makes a connection, and blocks until it is there. Throws refused or unreachable with one line
/// that names the URL, and the key file where that is to blame; std::invalid_argument if the file's
/// certificate is none.
nats_connection dial(const access& who, const std::string& url, const dialling& how);

/// Whose key this is, and the file that it is in.
std::string owner_of(const access& who);

/// What nats.c says of the last thing that failed in this thread, on one line.
std::string last_words(natsStatus status);

}  // namespace cleave::net::nats
