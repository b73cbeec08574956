#pragma once

#include "net/nats/access.hpp"
#include "net/nats/refused.hpp"

#include <nats/nats.h>
#include <chrono>
#include <memory>
#include <string>

/// One connection of nats.c, made as all of Cleave's are: by TLS and key, no second try, no
/// collecting of what is sent.
namespace cleave::net::nats {

struct nats_closed {
  void operator()(natsConnection* c) const {
    natsConnection_Close(c);
    natsConnection_Destroy(c);
  }
};
using nats_connection = std::unique_ptr<natsConnection, nats_closed>;

struct dialling {
  std::string name;                               ///< what it calls itself, for the server's log
  std::chrono::milliseconds answer_within{2000};  ///< of the TCP connection, greeting, TLS, key
  std::chrono::milliseconds write_within{1000};
  std::chrono::milliseconds ping_every{1000};  ///< two without answer: it is lost
  natsErrHandler on_error = nullptr;           ///< in threads of nats.c
  natsConnectionHandler on_closed = nullptr;
  void* closure = nullptr;
};

/// Blocks until it is there. Throws refused or unreachable with one line that names the URL.
nats_connection dial(const access& who, const std::string& url, const dialling& how);

/// What nats.c says of the last thing that failed in this thread, on one line.
std::string last_words(natsStatus status);

}  // namespace cleave::net::nats
