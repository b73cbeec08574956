#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/relays.hpp"
#include "sim/world.hpp"

/// How well many nodes share one large tree, by whom they ask.
namespace sim {

/// Sites, and what lies between them.
struct layout {
  enum class kind : std::uint8_t {
    four,   ///< the paper's (Hiraishi et al., Table 2), the workers spread evenly over all four
    grown,  ///< the same sites, each filled with 64 workers before the next is added, as in the
            ///< paper's figure 7
    many,   ///< 64 sites around a hub
    three,  ///< the sites of `make sites`: a hub and two at the paper's round trips, 100 Mbit/s
    one     ///< a single site, whose nodes have one worker each
  } what = kind::four;
  unsigned workers = 4;
  unsigned node_workers = 0;  ///< workers of a node at most; 0: 16 at many sites, 1 at one, else 8
};

/// A node: where it is, and how many workers it has.
struct place {
  unsigned site = 0;
  unsigned workers = 0;
};
/// The nodes, site by site: at most so many workers each, sites as even as can be.
std::vector<place> nodes_of(const layout& l);

/// The way from the first site, to which all others are connected: milliseconds for both ways, and
/// megabits a second; 0: no limit.
struct connection {
  double round_trip = 0;
  double megabits = 0;
};
connection to_hub(const layout& l, unsigned site);

/// Whom a simulated node asks: as real nodes do, or whom one of the paper's servers chooses.
struct asking {
  net::preference node;  ///< strategy::relay: the servers choose
  relays::choice servers = relays::choice::random;
};
/// The names of the servers' choices, which no real node has.
inline constexpr std::string_view server_names[] = {"server-random", "server-least"};
/// All names, as read_asking() takes them.
std::vector<std::string> asking_names();
/// Reads one of these names, or `relay-random,N`. Throws std::invalid_argument.
asking read_asking(const std::string& text);
std::string to_string(const asking& a);

struct scale_run {
  layout where;
  asking whom;
  instant node_cost{40};
  instant poll_every{};       ///< 0: after each node of the tree, and every 100 us
  std::size_t published = 0;  ///< bytes that all tasks read
  std::uint64_t seed = 1;
  instant killed_every{};  ///< a node other than the root's, and another one joins; 0: none
  instant back_after{};    ///< when the other one joins; 0: after a tenth of that
  /// When others are told of a killed node, as by a transport that only hears nothing more of it.
  instant told_after{3'000'000};
};

struct scale_result {
  scale_run run;
  double seconds = 0;
  double speedup = 0;        ///< how many times as fast as one worker
  double efficiency = 0;     ///< speedup by workers
  std::vector<double> busy;  ///< the part of the time in which each site's workers computed
  std::uint64_t tasks = 0, requests = 0, messages = 0, bytes = 0, events = 0;
};

/// `progress` hears every simulated second how many nodes of the tree are visited.
/// Throws if the work was not done, or if it was not done exactly once although no node was killed.
scale_result run_scale(
    const tree& work, const scale_run& run,
    const std::function<void(instant now, std::uint64_t visited)>& progress = {});

/// A drawing (SVG) of efficiency by workers, a line for each strategy.
std::string plot(const std::vector<scale_result>& results);

}  // namespace sim
