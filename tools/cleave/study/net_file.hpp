// The file of a network's parameters: `cleave study net` writes it, `cleave plan --network` reads
// it. docs/communication.md describes it.
#pragma once

#include <string>
#include <vector>

#include "net_fit.hpp"

namespace study::networks {

struct known_network {
  std::string name;
  loggp is;
};

struct network_file {
  std::string date, machine, setup;
  std::vector<known_network> networks;
};

std::string to_json(const network_file& f);
// Throws apps::input_error that names the file.
network_file read_network_file(const std::string& file);

// The network of that name in a file; without a name, the first of Cleave's transports, or of plain
// MPI. Throws apps::usage_error, or apps::input_error that names the file.
known_network network_in(const std::string& file, const std::string& name, bool of_mpi);

}  // namespace study::networks
