#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocol/message.hpp"
#include "protocol/strategy.hpp"

/// Tascell's servers, one at each site: they carry messages between nodes, and choose who gets a
/// request for anything by what has passed through them (Hiraishi et al., section 3.5). The first
/// site's server is the root of their tree; the others are its children.
namespace sim {

namespace net = cleave::net;

class relays {
public:
  enum class choice : std::uint8_t { random, least_split };

  relays(choice how, std::uint64_t seed) : how_(how), random_(seed) {}

  void add(unsigned node, unsigned site);
  /// A task or a result passes on its way between two nodes.
  void passes(unsigned from, unsigned to, const net::message& m);
  /// The node that gets a request of this one; nothing if no node is known to have something.
  std::optional<unsigned> route(unsigned from);

private:
  /// A node, or a site's server, as the server above it sees it.
  struct child {
    unsigned number = 0;
    std::int64_t tasks = 0;   ///< sent to it, less the results that it sent
    std::uint64_t depth = 0;  ///< the depth of the last task sent to it
  };
  struct server {
    std::vector<child> nodes;
    child as_child;  ///< this server as a child of the root server
  };

  child& node(unsigned number);
  std::optional<unsigned> pick(const std::vector<child>& among, unsigned but);
  std::optional<unsigned> down(unsigned site, unsigned but);

  choice how_;
  net::random_numbers random_;
  std::map<unsigned, unsigned> site_;  ///< the site of each node
  std::map<unsigned, server> servers_;
};

}  // namespace sim
