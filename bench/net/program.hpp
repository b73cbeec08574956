// The program that measures one network: its command line, and a line of JSON for each measurement.
#pragma once

#include <functional>
#include <memory>

#include "network.hpp"

namespace bench::net {

// What a network is opened with: how many ranks it has, 0 if the launcher tells.
using opener = std::function<std::unique_ptr<network>(int ranks)>;

// Returns the exit status.
int main(int argc, char** argv, const opener& open);

}  // namespace bench::net
