#pragma once

#include "net/transport.hpp"

#include <string>

/// What a transport that is loaded at start-up exports: one function, `cleave_transport_open`.
namespace cleave::net {

/// Grows by one whenever transport.hpp or this file changes what is called. A plug-in of another
/// number is refused.
inline constexpr unsigned plugin_version = 1;

struct transport_settings {
  int ranks = 0;  // as many as the launcher spoke of; 0: it did not say
  bool spin =
      false;  // wait() may spin before it blocks: there are CPUs for more threads than this job has
};

/// The transport, or nullptr with one line in `error`. Called by the thread that will call
/// everything else. If the versions differ it looks at nothing but these.
using open_function = transport*(unsigned version, const transport_settings& settings,
                                 std::string& error);
inline constexpr const char* open_function_name = "cleave_transport_open";

}  // namespace cleave::net
