// The roster of a site: which servers (`queens --serve`) answer, and what they offer.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nats/connection.hpp"
#include "sites/control.hpp"

namespace sites {

using cleave::net::nats::connection;
using cleave::net::nats::control;
using cleave::net::nats::endpoint;
using cleave::net::nats::offer;
using cleave::net::nats::presence;

struct server {
  endpoint at;
  offer what;
};

// The nodes of jobs, as they say themselves that they are there.
class attendance {
public:
  using clock = std::chrono::steady_clock;
  void hear(clock::time_point now, const endpoint& from, const presence& p);

  struct totals {
    unsigned nodes = 0, workers = 0, computing = 0;  // the nodes that are there, and their workers
    std::uint64_t tasks = 0;  // tasks that have crossed, to nodes that are gone, too
  };
  totals total(clock::time_point now) const;

private:
  struct heard {
    presence last;
    clock::time_point at;
  };
  std::map<endpoint, heard> nodes_;
};

// The servers that offer this program in the build that most workers have; those that have least to
// do come first. `other_builds`: how many have another build by that name.
std::vector<server> choose(std::vector<server> all, const std::string& program,
                           unsigned& other_builds);

// The whole name of the machine that offers the program and is called `name`: that itself, or else
// the one name that ends so after a dot (`tokyo.m1` for `kobe.tokyo.m1`); `name` if there is none.
// Throws apps::usage_error if there are several.
std::string machine_named(const std::vector<server>& all, const std::string& program,
                          const std::string& name);

// The signals that end a command are blocked while it lives, and looked for between waits.
class interruption {
public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  // Whether such a signal has come.
  bool seen();

private:
  sigset_t before_;
  bool seen_ = false;
};

// Makes the connection of a command. Throws apps::usage_error if the key is not taken, and
// std::invalid_argument, std::runtime_error.
std::unique_ptr<connection> connect(const std::string& where);

// Asks all who are there, and waits until nobody has answered for `quiet`, or nobody at all for
// `at_most`; not longer than five times that. Letters of another kind are lost.
std::vector<server> ask_around(connection& by, interruption& stop, std::chrono::milliseconds quiet,
                               std::chrono::milliseconds at_most);

// Sends a message. With `ask` a letter `nobody` comes if it is known that nobody listens there.
void send(connection& by, const endpoint& to, const control& message, bool ask = false);
// Reads a letter; nothing if it is no control message.
std::optional<control> read(const cleave::net::nats::letter& l);
std::optional<presence> read_presence(const cleave::net::nats::letter& l);

}  // namespace sites
