// The commands that set up a relay, and say who may join it.
#pragma once

#include <string>
#include <vector>

namespace relay {

// What the command line says of a relay; empty or -1: nothing.
struct wanted {
  std::string folder, site, listen, upstream;
  std::vector<std::string> hosts;
  int port = -1;
  bool plain = false;
};

// Each of these returns an exit status. They throw apps::usage_error or std::invalid_argument if
// the input is to blame, with one line, and then have changed nothing.

// Makes the folder if there is none, and runs its relay until interrupted.
int make_and_run(const wanted& w);
// Makes the key file `output` (default: NAME.cleave). When it returns, a running relay takes it.
int invite(const std::string& folder, const std::string& name, bool for_relay, std::string output);
// Takes a key back. When it returns, whoever used the key is cut off.
int revoke(const std::string& folder, const std::string& name);

}  // namespace relay
