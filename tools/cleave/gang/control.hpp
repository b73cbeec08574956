// What a user asks of the gang's daemon from outside.
#pragma once

#include <string>

namespace gang {

// Prints all jobs, as a table or as one JSON object. Returns the exit status; throws as
// connect_to().
int list(const std::string& socket, bool json);
// Asks for `what`: pause, resume or kill. Throws apps::usage_error if the daemon refuses it.
int command(const std::string& socket, const std::string& what, const std::string& job);

}  // namespace gang
