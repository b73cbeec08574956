#pragma once

#include "protocol/settings.hpp"
#include "transport/transport.hpp"

#include <exception>
#include <string>
#include <utility>

namespace cleave::net {

/// How a task ends whose input or result cannot be written, or read.
outcome failure(const std::exception_ptr& e);

/// What this node says to other nodes, and to its user. The driver's thread uses it; any other may
/// call send() and tell() where the transport allows that.
///
/// Invariant: what is sent is no longer than the transport carries.
class outlet final : public network_port {
public:
  outlet(const identity& self, transport& carries) : self_(self), carries_(carries) {}

  const identity& self() const { return self_; }
  transport& carrier() const { return carries_; }

  void send(address to, message m) override;
  void say(const std::string& line) override;
  std::string name(address who) const override { return carries_.name(who); }

  /// Sends what is not the protocol's. `process` is the one that it is meant for; 0: whichever is
  /// there.
  template <class Body>
  void tell(address to, Body body, incarnation process = 0) {
    send(to, {self_.program, self_.process, process, std::move(body)});
  }
  /// Throws std::length_error for what the transport would drop.
  void check_length(const bytes& contents, const char* of_what) const;

private:
  void leave_shared_out(message& m) const;

  const identity self_;
  transport& carries_;
};

}  // namespace cleave::net
