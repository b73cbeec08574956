// What proves who somebody is: nkeys (Ed25519, as NATS writes them) of machines and relays, and the
// certificates by which machines know a relay. Made with OpenSSL's library.
#pragma once

#include <string>
#include <vector>

namespace relay {

struct nkey {
  std::string public_key;  // "U...", may be known
  std::string seed;        // "SU...", a secret
};

// Each of these throws std::runtime_error if OpenSSL fails.
nkey make_nkey();

struct identity {
  std::string certificate, key;  // PEM; the key is a secret
};

// A certificate authority of its own: P-256, valid for 20 years.
identity make_authority(const std::string& site);
// A server's certificate for these names and addresses, signed by it, valid as long.
identity make_server(const identity& authority, const std::vector<std::string>& hosts);

bool is_address(const std::string& host);  // IPv4 or IPv6, not a name

}  // namespace relay
