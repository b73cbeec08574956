#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "protocol/core_port.hpp"
#include "protocol/ledger.hpp"
#include "protocol/strategy.hpp"

/// What a node knows of the others.
namespace cleave::net {

struct peer {
  incarnation process = 0;  ///< 0: not heard from
  distance how_far = distance::far;
  std::uint64_t site = 0;  ///< as transport::site() says
  bool reachable = true;
  bool foreign = false;  ///< runs another program
  bool leaving = false;
  instant heard{};
  instant lost_at{};        ///< when the transport last said that it is lost
  instant related_since{};  ///< silence before that says nothing
  instant beaten{};         ///< when the last heartbeat came
  std::uint64_t beat = 0;   ///< the last heartbeat's number; 0: none has come
  load state;
  struct {
    instant nothing{};  ///< it has nothing to give: it said none
    instant starves{};  ///< it has nothing to do: it asked for anything
    instant fetches{};  ///< it asked for data
  } until;              ///< what is taken to hold until then
  seen_requests requests;
};

/// The peers that can be reached, by how far they are: so that a few of thousands are drawn without
/// a look at all of them.
class reachable_peers {
public:
  struct entry {
    address who;
    const peer* what;  ///< stays where it is: a peer once known is remembered
  };
  using list = std::vector<entry>;

  const list& near() const { return near_; }
  const list& far() const { return far_; }

  /// Called after a change of what decides whether the peer is among these, and where.
  void update(address who, const peer& p) {
    const bool is_far = p.how_far == distance::far;
    const bool belongs = p.reachable && !p.foreign;
    const auto at = places_.find(who);
    if (at != places_.end()) {
      if (belongs && at->second.first == is_far) return;
      remove(at);
    }
    if (!belongs) return;
    list& all = is_far ? far_ : near_;
    places_.emplace(who, std::pair(is_far, all.size()));
    all.push_back({who, &p});
  }

private:
  using places = std::map<address, std::pair<bool, std::size_t>>;

  void remove(places::iterator at) {
    list& all = at->second.first ? far_ : near_;
    const std::size_t place = at->second.second;
    places_.erase(at);
    if (place + 1 != all.size()) {
      all[place] = all.back();
      places_.at(all[place].who).second = place;
    }
    all.pop_back();
  }

  list near_, far_;
  places places_;
};

/// All of a short list, or so many drawn from a long one.
template <class See>
void see_some(const reachable_peers::list& all, std::size_t most, random_numbers& random,
              const See& see) {
  if (all.size() <= most) return std::for_each(all.begin(), all.end(), see), void();
  for (std::size_t i = 0; i < most; ++i) see(all[random.below(all.size())]);
}

}  // namespace cleave::net
