// `cleave nodes`: who is there, and what each does.
#pragma once

#include <string>

namespace sites {

// Lists the servers. Returns the exit status. Throws std::invalid_argument, std::runtime_error.
int list(const std::string& where, bool json);

}  // namespace sites
