// A relay's folder: who it is, who may join it, its keys and certificates, and what its
// nats-server reads. The folder has mode 700, its files 600. relay.json is what counts; the
// server's configuration is written from it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nats/access.hpp"
#include "nats/subjects.hpp"

namespace relay {

// A machine of the site, or the relay of another one, below this.
struct member {
  std::string name;
  bool is_relay = false;
  std::string public_key;
};

struct configuration {
  std::string site;                // a path (nats/subjects.hpp)
  std::vector<std::string> hosts;  // the names and addresses under which machines reach it
  std::string listen;              // the address it listens on
  int port = 0;
  bool plain = false;     // without TLS; only on 127.0.0.1
  bool upstream = false;  // the relay joins another one, with upstream.cleave
  // The public key by which its bridge to the other relay shows itself to the server.
  std::string bridge_key;
  std::vector<member> members, revoked;
};

using cleave::net::nats::access;
using cleave::net::nats::is_site;
using cleave::net::nats::is_token;

// The reserved name of a relay in its key file.
using cleave::net::nats::relay_name;

// The usual folder: $XDG_CONFIG_HOME/cleave/relay, or ~/.config/cleave/relay without that variable.
std::filesystem::path default_folder();

// The functions that follow throw apps::usage_error, one line that begins with the folder or file,
// if it is not what was expected, and std::runtime_error if it cannot be written.

// Makes the folder, whole or not at all: `c` and a certificate authority.
void make_folder(const std::filesystem::path& folder, const configuration& c);
bool is_folder(const std::filesystem::path& folder);  // whether this is a relay's folder
configuration read_folder(const std::filesystem::path& folder);
// Writes relay.json and nats-server.conf.
void write_folder(const std::filesystem::path& folder, const configuration& c);
// Writes server.crt and server.key for the names in `c`.
void write_certificate(const std::filesystem::path& folder, const configuration& c);

// A process that reads the folder to change it holds this. Making one blocks.
class changing {
public:
  explicit changing(const std::filesystem::path& folder);
  ~changing();
  changing(const changing&) = delete;
  changing& operator=(const changing&) = delete;

private:
  int lock_;
};

// The path of a member: that of a machine, or the site of a relay.
std::string path_of(const configuration& c, const member& m);
// The same for people.
std::string name_of(const configuration& c, const member& m);

// What nats-server reads. There is always a user in it: without one it would let everybody in.
std::string server_configuration(const configuration& c);

// All that a key file needs but the key.
access access_to(const std::filesystem::path& folder, const configuration& c);
// All that a key file needs but the key, for a process beside the relay.
access access_from_here(const std::filesystem::path& folder, const configuration& c);

// Whether a text may be in a certificate and a URL: a name or an address.
bool is_host(const std::string& text);

}  // namespace relay
