#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nats/access.hpp"
#include "nats/subjects.hpp"
#include "transport/transport.hpp"

namespace cleave::net::nats {

/// What a server sets in the environment of a job's process.
struct place {
  std::string job;
  address self = 0;
  machine root;
  std::uint32_t workers = 0, asked_workers = 0;  // from the settings, not from the environment
};

/// Throws std::invalid_argument, which names the variable and what was expected.
place read_place();
/// The key of CLEAVE_KEY's file. Throws std::invalid_argument, and what read_access() throws.
access read_key();
/// An address as text, hexadecimal; nothing: it is none.
std::optional<address> read_address(std::string_view text);

}  // namespace cleave::net::nats
