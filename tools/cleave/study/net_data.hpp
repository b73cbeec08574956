// What `cleave study net` measured: what a network gives, over plain MPI and over Cleave's
// transports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "net_fit.hpp"
#include "passes_data.hpp"

namespace study::networks {

// All that there may be. openmpi and mpich are plain MPI, the others are Cleave's transports.
inline const std::vector<std::string> all_networks = {"openmpi", "mpich", "cleave-openmpi",
                                                      "cleave-mpich", "cleave-nats"};
inline bool is_plain(const std::string& network) { return !network.starts_with("cleave-"); }

// What one measurement gave, in each pass.
struct cell {
  std::string network;
  std::string what;       // barrier, send, half, stream, broadcast, pairs
  std::string algorithm;  // of a broadcast: flat, binomial, chain, library
  int ranks = 0;
  int pairs = 0;  // how many sent at once
  std::size_t bytes = 0;

  std::vector<double> counts;  // repetitions
  // Of each pass: the median over its repetitions, in seconds, and the quartiles. For streams and
  // pairs it is the time of a message, of which there is one value.
  std::vector<double> seconds, low, high;

  bool is_same(const cell& other) const;
};

// A run that failed. The network is not asked for so many ranks again.
struct failure {
  std::string network;
  int ranks = 0;
  std::string reason;
};

// Where processes run.
struct places {
  std::vector<std::string> hosts;  // empty: this machine
  std::string agent;               // what starts a command on a host, as ssh does
  std::string relay_host;          // where nodes reach this machine's relay
};

// What is measured, and how often.
struct plan {
  bool quick = false;
  std::vector<std::string> networks;  // those that are here
  std::vector<int> ranks;             // barriers
  std::vector<int> broadcast_ranks;   // some of them
  struct lengths {
    std::vector<int> latency, throughput, broadcast;
  };
  lengths bytes;           // of messages
  std::vector<int> pairs;  // how many at once
  int barriers = 0, milliseconds = 0, barrier_seconds = 0, passes = 0;
  places where;
};

struct measured : made_in_passes {
  plan what;
  std::vector<std::string> missing;  // networks that are not here, and why
  std::vector<cell> cells;
  std::vector<failure> failures;

  // The median over the passes, in seconds; nothing if that was not measured.
  std::optional<double> seconds(const cell& like) const;
  const cell* find(const cell& like) const;
};

// The parameters of a network's messages between two ranks; nothing if too little was measured.
std::optional<loggp> parameters(const measured& m, const std::string& network);

std::string to_json(const measured& m, bool indented = false);
// Reads a study that is to go on. Throws apps::input_error that names the file.
measured read_measured(const std::string& file);
// The study as a page, which needs nothing else.
std::string page(const measured& m);

}  // namespace study::networks
