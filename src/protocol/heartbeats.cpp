#include "protocol/heartbeats.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

instant heartbeats::begin(instant now, bool idle) {
  next_at_ = now + all_.how.heartbeat_every;
  told_idle_ = idle;
  return now - std::exchange(at_, now);
}

std::vector<address> heartbeats::silent(instant now, const std::set<address>& related) {
  std::vector<address> all;
  for (const address who : related) {
    peer* const p = peers_.find(who);
    if (p == nullptr) continue;  // a relay
    // Before there was anything between the two, the peer's heartbeats went to others.
    if (related_.count(who) == 0) p->related_since = now;
    const instant silence = now - std::max(p->heard, p->related_since);
    if (neighbours::is_open(*p) && p->process != 0 && silence > all_.how.lost_after)
      all.push_back(who);
  }
  related_ = related;
  return all;
}

std::set<address> heartbeats::listeners(instant now, std::set<address> all) {
  std::erase_if(all, [&](address who) {
    const peer* const p = peers_.find(who);
    return p == nullptr || !neighbours::is_open(*p);
  });
  for (const address who : peers_.fetchers(now))
    if (neighbours::is_open(peers_.at(who))) all.insert(who);
  const reachable_peers::list& near = peers_.reachable().near();
  for (std::size_t i = std::min<std::size_t>(near.size(), all_.how.neighbours); i > 0; --i)
    all.insert(near[next_neighbour_++ % near.size()].who);
  std::vector<address> strangers;
  see_some(peers_.reachable().far(), all_.how.looked_at, peers_.random(),
           [&](const reachable_peers::entry& e) {
             if (all.count(e.who) == 0) strangers.push_back(e.who);
           });
  for (unsigned i = 0; i < all_.how.gossip && !strangers.empty(); ++i) {
    const std::size_t at = peers_.random().below(strangers.size());
    all.insert(strangers[at]);
    strangers.erase(strangers.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return all;
}

void heartbeats::greet(address who) {
  all_.network.send(who, {all_.self.program, all_.self.process, 0,
                          heartbeat{++last_, 0, false, all_.core.state(), {}, {}}});
}

}  // namespace cleave::net
