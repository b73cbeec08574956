// What joins a site's relay to another one. It dials out, as a client of both servers, and passes
// on: upwards what this site, and those below it, say to others; downwards what others say to them.
// The other server lets the bridge speak for these only: that is why it is no leaf-node connection,
// which a server before 2.14 believes whatever it says. Relays are a tree, so nothing comes back.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nats/access.hpp"
#include "nats/subjects.hpp"

namespace relay {

class bridge {
public:
  virtual ~bridge() = default;  // blocks for as long as one attempt to connect, 2 s
};

// Makes a bridge, which tries for ever, in a thread of its own. `say` is given lines for people, in
// any thread.
std::unique_ptr<bridge> make_bridge(cleave::net::nats::access upstream,
                                    cleave::net::nats::access own,
                                    std::function<void(const std::string&)> say);

}  // namespace relay
