#include "protocol/neighbours.hpp"

#include <string>

#include "machine/printable.hpp"

namespace cleave::net {

void neighbours::found(address who, distance how_far, std::uint64_t site) {
  peer& p = peers_[who];
  p.how_far = how_far, p.site = site;
  set_reachable(who, true);
}

void neighbours::set_reachable(address who, bool is) {
  peer& p = peers_[who];
  p.reachable = is;
  reachable_.update(who, p);
}

void neighbours::replaced(address who, incarnation process) {
  peer& p = peers_[who];
  const distance how_far = p.how_far;
  const std::uint64_t site = p.site;
  p = peer{};
  p.how_far = how_far, p.site = site;
  p.process = process;
  leaving_.erase(who), fetchers_.erase(who);
  reachable_.update(who, p);
}

void neighbours::set_leaving(address who, bool leaves) {
  peers_[who].leaving = leaves;
  leaves ? void(leaving_.insert(who)) : void(leaving_.erase(who));
}

void neighbours::refuse(address from, const message& m) {
  peer& p = peers_[from];
  const bool version = m.version != wire_version;
  if (!p.foreign) {
    all_.network.say(
        all_.network.name(from) +
        (version ? " speaks another version of the protocol" : " runs another program") +
        ": refused");
  }
  p.foreign = true;
  reachable_.update(from, p);
  const auto* gone = std::get_if<leave>(&m.body);
  if (gone != nullptr && gone->gone) {
    p.reachable = false;
    return;
  }
  send(from, reject{version ? "this job speaks another version of the protocol; start the same "
                              "executable on every node"
                            : "this job runs another program (other sources or another build of "
                              "them); start the same executable on every node"});
}

void neighbours::refused_by(address from, const reject& m) {
  peer& p = peers_[from];
  const std::string why = m.reason.empty() ? "another version of the protocol" : m.reason;
  if (!p.foreign) {
    all_.network.say(all_.network.name(from) + " refuses this one: " + machine::printable(why));
  }
  p.foreign = true;
  reachable_.update(from, p);
}

void neighbours::fetches(address who, instant until) {
  peers_[who].until.fetches = until;
  fetchers_.insert(who);
}

const std::set<address>& neighbours::fetchers(instant now) {
  std::erase_if(fetchers_, [&](address who) { return peers_.at(who).until.fetches <= now; });
  return fetchers_;
}

/// The peers after this one on the ring of addresses, up to `last`, in the order of the ring.
std::vector<address> neighbours::on_ring_up_to(address last) const {
  std::vector<address> all;
  if (last == all_.self.self) return all;
  const auto place = [&](address who) { return who - all_.self.self - 1; };
  for (const auto& [who, p] : peers_)
    if (is_open(p) && who != all_.self.self && place(who) <= place(last)) all.push_back(who);
  std::sort(all.begin(), all.end(), [&](address a, address b) { return place(a) < place(b); });
  return all;
}

}  // namespace cleave::net
