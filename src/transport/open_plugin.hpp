#pragma once

#include "transport/plugin.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace cleave::net {

/// An open_function for a plug-in whose transport make() returns: checks the version, and puts into
/// `why` what make() threw. A std::invalid_argument means a setting that cannot be used.
template <class Make>
transport* open_plugin(unsigned version, open_failure& why, Make make) {
  if (version != plugin_version) {
    why.line = "the plug-in is of version " + std::to_string(plugin_version) +
               ", this program needs " + std::to_string(version);
    return nullptr;
  }
  try {
    return make();
  } catch (const std::invalid_argument& e) {
    why = {e.what(), true};
    return nullptr;
  } catch (const std::exception& e) {
    why.line = e.what();
    return nullptr;
  }
}

}  // namespace cleave::net
