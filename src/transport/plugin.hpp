#pragma once

#include "transport/transport.hpp"

#include <string>

/// What a transport that is loaded at start-up exports: `cleave_transport_open`. That of NATS has
/// `cleave_serve` too.
namespace cleave::net {

/// Grows by one whenever transport.hpp or this file changes what is called. A plug-in with another
/// number is refused.
inline constexpr unsigned plugin_version = 8;

struct transport_settings {
  int ranks = 0;               // as many as the launcher spoke of; 0: it did not say
  unsigned workers = 0;        // the workers of this process
  unsigned asked_workers = 0;  // what the job asked for, if the owner here allows fewer; else 0
  /// wait() may spin before it blocks: there are CPUs for more threads than this job has.
  bool spin = false;
};

/// Why there is no transport.
struct open_failure {
  std::string line;
  bool by_setting = false;  // the user has set something that cannot be used
};

/// The transport, or nullptr with a line in `why`. Called by the thread that will call everything
/// else. If the versions differ the function looks at nothing but `version` and `why`.
using open_function = transport*(unsigned version, const transport_settings& settings,
                                 open_failure& why);
inline constexpr const char* open_function_name = "cleave_transport_open";

/// What a machine offers (`--serve WHERE`).
struct serve_settings {
  std::string where;  // a key file, or the URL of a relay
  std::string program;
  std::uint64_t hash = 0;
  unsigned workers = 0;        // the most of each process of a job; 0: usual_workers
  unsigned usual_workers = 1;  // how many the program chooses
};

/// Serves until it is told to leave by a signal. Returns the exit status, with one line in `error`
/// if it is not 0: 2 if what was given cannot be used. Called by the main thread, while there is no
/// other.
using serve_function = int(unsigned version, const serve_settings& what, std::string& error);
inline constexpr const char* serve_function_name = "cleave_serve";

}  // namespace cleave::net
