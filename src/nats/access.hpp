#pragma once

#include "machine/saved_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What one machine needs to join a site, as one file carries it.
namespace cleave::net::nats {

/// The name that a relay has in its own key file. No machine has it.
inline constexpr std::string_view relay_name = "relay";

struct access {
  std::string site, name;  ///< the site (subjects.hpp) and the name of this machine, a token
  /// Where the relay listens: tls://HOST:PORT, or nats:// on loopback.
  std::vector<std::string> urls;
  /// The certificate that vouches for the relay, in PEM; empty: there is no TLS.
  std::string authority;
  /// The key begins with U; it is empty, like the seed, if the relay asks nobody for a key.
  std::string public_key;
  std::string seed;    ///< begins with SU; is never shown to anybody
  std::string file{};  ///< the file that it was read from, for whoever has to mend it
};

/// What a URL names. Throws std::invalid_argument if it is no tls:// or nats:// URL.
struct relay_url {
  bool tls = true;
  std::string host;
  int port = 4222;
};
relay_url parse_url(const std::string& url);

/// Whether only processes of this machine can reach what listens there.
bool is_loopback(std::string_view host) noexcept;

/// What stands at the end of each of NATS's keys, low byte first: a CRC-16 (XMODEM).
std::uint16_t checksum_of_key(std::span<const unsigned char> bytes) noexcept;

/// Checks that nothing is wrong with it; else throws std::invalid_argument, which says what was
/// expected.
void check(const access& a);

/// Reads a key file. Throws std::invalid_argument with one line that begins with the file's name if
/// it cannot be read, if others than its owner may read it, or if it is no key file.
access read_access(const std::filesystem::path& file);

/// The same for the key file of a machine: throws for that of a relay, too.
access read_machines_access(const std::filesystem::path& file);

/// Makes the file, readable for its owner alone; nothing is left of one that could not be written.
/// Throws std::invalid_argument, also if there is such a file already, unless `as` is `secret`,
/// which replaces it.
void write_access(
    const std::filesystem::path& file, const access& a,
    cleave::machine::saved_file::kind as = cleave::machine::saved_file::kind::new_secret);

/// The key file for `where`: that itself, or if it is a URL $CLEAVE_KEY, or the one of
/// $XDG_CONFIG_HOME/cleave/*.cleave (~/.config without it) that has this URL. Throws
/// std::invalid_argument with one line.
std::filesystem::path find_key(const std::string& where);
/// What is in the key file for `where`; if that is a URL, it is the only one. Throws
/// std::invalid_argument.
access find_access(const std::string& where);

}  // namespace cleave::net::nats
