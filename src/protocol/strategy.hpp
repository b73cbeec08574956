#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/message.hpp"
#include "transport/transport.hpp"

/// Whom to ask for anything.
namespace cleave::net {

/// A peer that may have work: not one that asked this node itself, and none that said that it has
/// nothing.
struct candidate {
  address at = 0;
  distance how_far = distance::far;
  std::uint64_t site = 0;  ///< tells the sites of far candidates apart
  bool heard = false;      ///< a heartbeat has said what it does
  load state;
};

/// Deterministic: the same seed gives the same choices.
class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  /// Below n, which is not 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

private:
  std::uint64_t state_;
};

enum class strategy : std::uint8_t {
  relay,         ///< the relay chooses (Tascell, section 3.5); only the simulator has such relays
  random,        ///< any candidate
  near_first,    ///< a near one; now and then a far one; of either the better of two
  two_choices,   ///< the one of two at random whose task was split least, then the busier
  least_split,   ///< the one whose task was split least; of several the nearest, then any
  relay_random,  ///< the one that Tascell's servers would choose at random, as this node knows them
};

/// What users and the simulator call the strategies that a node itself follows.
struct strategy_name {
  std::string_view name;
  strategy how;
};
inline constexpr strategy_name strategy_names[] = {{"near-first", strategy::near_first},
                                                   {"random", strategy::random},
                                                   {"two-choices", strategy::two_choices},
                                                   {"least-split", strategy::least_split},
                                                   {"relay-random", strategy::relay_random}};

/// A strategy as a user sets it.
struct preference {
  strategy how = strategy::near_first;
  unsigned site_nodes = 0;  ///< the N of `relay-random,N`; 0: none was given
  friend bool operator==(const preference&, const preference&) = default;
};
/// The largest N of `relay-random,N`.
inline constexpr unsigned most_site_nodes = 65'536;
/// Reads NAME, or `relay-random,N`. Throws std::invalid_argument, which begins with `setting`.
preference read_preference(std::string_view setting, std::string_view text);
/// What CLEAVE_ASK says; nothing if it is not set. Throws as read_preference() does.
std::optional<preference> preference_of_environment();
/// The text that read_preference() reads as `p`, whose strategy has a name.
std::string to_string(const preference& p);

/// Tascell's servers as an asking node sees them (section 3.5): each site has one, whose children
/// are the site's nodes. The server of the site with the root's node is the root of them all; its
/// children are that site's nodes, and the servers of the other sites.
struct server_tree {
  std::size_t nodes = 1;        ///< the nodes of this node's site, itself included
  bool at_root = true;          ///< this node's site has the root's node
  std::uint64_t root_site = 0;  ///< the site of the root's node, where that is another one
  std::size_t site_nodes = 0;   ///< the nodes that each site is taken to have; 0: as it has
};

/// The address that a relay answers itself: it passes the request on to whom it likes.
inline constexpr address relay_address = ~address{0};

/// Chooses one of the candidates. Only relay_random looks at `servers`.
std::optional<address> choose(strategy how, const std::vector<candidate>& from,
                              random_numbers& random, const server_tree& servers = {});

}  // namespace cleave::net
