// A running relay: nats-server as its child, whose log it shortens, and which it tells to read its
// settings again when an invitation or a revocation asks for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "relay/folder.hpp"

namespace relay {

// The path of nats-server: in $PATH, or where Debian has it. Throws apps::usage_error if there is
// none.
std::string find_server();

// Runs the relay of this folder until SIGTERM or SIGINT; returns its exit status. Throws
// apps::usage_error if one runs already. A SIGHUP makes the server read its settings again.
// `above`: the key with which it joins another relay from now on; without a name, none but what the
// folder has.
int run(const std::filesystem::path& folder, configuration c, const access& above);

// Makes the running relay of the folder read its settings again, and blocks until it has done so.
// Returns what went wrong, if anything did. Does nothing if no relay runs.
std::optional<std::string> reload(const std::filesystem::path& folder);

}  // namespace relay
