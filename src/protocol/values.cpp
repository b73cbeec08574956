#include "protocol/values.hpp"

#include <algorithm>
#include <vector>

namespace cleave::net {

void values::on_update(const shared_update& m) {
  all_.core.merge(m.values, false);
  spread(m.last, m.values);
}

/// Sends values to the peers after this one on the ring of addresses, up to `last`: to the first of
/// each of a few stretches, which passes them on within its own.
void values::spread(address last, const bytes& newest) {
  if (last == all_.self.self) return;
  const auto place = [&](address who) { return who - all_.self.self - 1; };
  std::vector<address> all;
  for (const auto& [who, p] : peers_.known()) {
    if (neighbours::is_open(p) && who != all_.self.self && place(who) <= place(last))
      all.push_back(who);
  }
  std::sort(all.begin(), all.end(), [&](address a, address b) { return place(a) < place(b); });
  const std::size_t branches = std::min<std::size_t>(all_.how.update_branches, all.size());
  for (std::size_t i = 0; i < branches; ++i) {
    const std::size_t first = all.size() * i / branches, end = all.size() * (i + 1) / branches;
    peers_.send(all[first], shared_update{all[end - 1], newest});
  }
}

}  // namespace cleave::net
