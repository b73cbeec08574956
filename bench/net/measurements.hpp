// What is measured of a network: barriers, latency, throughput, broadcasts, and pairs of ranks that
// send at once. (Figures 3.3 to 3.13 of the thesis on a cluster of workstations:
// docs/communication.md.)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "network.hpp"

namespace bench::net {

// How broadcasts are made. `library` is left out where there is none.
inline const std::vector<std::string> all_algorithms = {"flat", "binomial", "chain", "library"};

struct plan {
  int barriers = 0;                      // how many; 0: none
  std::vector<int> latency, throughput;  // lengths of messages in bytes, between ranks 0 and 1
  std::vector<int> broadcast;            // lengths
  std::vector<std::string> algorithms = all_algorithms;
  std::vector<int> pairs;  // how many at once: rank i sends to i + that many
  int pair_bytes = 1 << 16;
  int count = 1000;             // the most repetitions of one measurement
  double seconds = 0.2;         // about how long one takes, however long a repetition
  double barrier_seconds = 20;  // the most that the barriers take
};

// One measurement, as rank 0 knows it.
struct row {
  std::string what;       // barrier, send, half, stream, broadcast, pairs
  std::string algorithm;  // of a broadcast
  int pairs = 0;
  std::size_t bytes = 0;
  std::size_t count = 0;  // repetitions
  // Seconds of one repetition: lower quartile, median, upper quartile. Of streams and pairs there
  // is one value, the time of a message.
  double low = 0, median = 0, high = 0;
};

// Measures all of the plan; every rank calls it. Rank 0 tells each row as soon as it is there.
// Throws std::runtime_error if a message does not come or is not the one that was sent.
void measure(network& over, const plan& what, const std::function<void(const row&)>& tell);

}  // namespace bench::net
