#pragma once

#include "nats/access.hpp"
#include "transport/plugin.hpp"

#include <filesystem>

namespace cleave::net::nats {

/// Offers this machine to jobs of this program until SIGINT or SIGTERM, and then until the jobs
/// that it works for can do without it; a second signal ends it at once. Returns the exit status.
/// Called by the main thread of a process that has no other threads. `key`: the file that `who` is
/// from. Throws refused, std::runtime_error.
int serve(const access& who, const std::filesystem::path& key, const serve_settings& what);

}  // namespace cleave::net::nats
