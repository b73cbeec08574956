// What proves who somebody is: nkeys (Ed25519, as NATS writes them) of machines and relays, and the
// certificates by which machines know a relay. OpenSSL's library makes them.
#pragma once

#include <string>
#include <vector>

namespace relay {

struct nkey {
  std::string public_key;  // begins with U; may be known
  std::string seed;        // begins with SU; is a secret
};

// Each of these throws std::runtime_error if OpenSSL fails.
nkey make_nkey();

struct identity {
  std::string certificate, key;  // PEM; the key is a secret
};

// How long certificates are valid, in years.
inline constexpr long authority_years = 20, relay_years = 20;

// Makes a certificate authority for a site: P-256.
identity make_authority(const std::string& site);
// Makes a server's certificate for these names and addresses, which `authority` signs.
identity make_server(const identity& authority, const std::vector<std::string>& hosts);

bool is_address(const std::string& host);  // IPv4 or IPv6, not a name

}  // namespace relay
