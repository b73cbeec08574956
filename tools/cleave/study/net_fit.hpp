// The parameters of a network in the LogGP model (Alexandrov, Ionescu, Schauser and Scheiman,
// "LogGP: incorporating long messages into the LogP model", 1995).
#pragma once

#include <optional>
#include <vector>

namespace study::networks {

// In seconds. A message of k bytes takes o + (k - 1) G + L + o, and the next one can follow after
// g + (k - 1) G.
struct loggp {
  double latency = 0;       // L: what a byte is on its way
  double overhead = 0;      // o: what a process is busy with a message
  double gap = 0;           // g: from one message to the next
  double gap_per_byte = 0;  // G: from one byte of a message to the next; 1 / G is the bandwidth
  double error = 0;         // the median difference between model and measurement, relative
};

// How long something takes for messages of so many bytes.
struct point {
  double bytes = 0, seconds = 0;
};

// Fits the model to what was measured: until a send returns, half a round trip, and the time of a
// message in a stream. Differences count relatively: 1 us in 10 us as much as 1 ms in 10 ms, and
// those far off count less. Returns nothing where one of the three has fewer than two lengths.
std::optional<loggp> fit(const std::vector<point>& send, const std::vector<point>& half,
                         const std::vector<point>& stream);

}  // namespace study::networks
