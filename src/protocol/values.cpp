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

void values::fetch(instant now, address publisher, std::uint64_t id) {
  fetching_[{publisher, id}] = {now, now + all_.how.give_up_after, all_.how.give_up_after};
  peers_.send(publisher, net::fetch{id});
}

void values::on_fetch(instant now, address from, const net::fetch& m) {
  peers_.fetches(from, now + all_.how.forget_after);
  std::erase_if(served_, [&](const auto& s) { return s.second <= now; });
  if (served_.count({from, m.id}) != 0) return;  // the contents are on their way
  auto contents = all_.core.publication(m.id);
  const bool found = contents.has_value();
  const instant takes{found ? static_cast<instant::rep>(contents->size() / all_.how.slowest_link)
                            : 0};
  served_[{from, m.id}] = now + std::min(takes, all_.how.forget_after / 2);
  peers_.send(from, published{m.id, found, found ? std::move(*contents) : bytes{}});
}

void values::on_published(address from, const published& m) {
  if (fetching_.erase({from, m.id}) == 0) return;
  all_.core.fetched(from, m.id, m.found ? std::optional(m.contents) : std::nullopt);
}

/// A fetch ends with its data, or when its publisher is gone. Large data take their time, and what
/// is sent after them too: so this needs a longer silence than a task does. And who has come just
/// now may not have heard of the publisher yet. One that seems lost may be back in a moment, while
/// the error that would say so here ends the job.
void values::fetch_again(instant now) {
  std::vector<address> silent;
  for (auto& [what, f] : fetching_) {
    const peer* const known = peers_.find(what.first);
    const bool is_away = known != nullptr && !known->reachable &&
                         now - std::max(f.since, known->lost_at) >= all_.how.lost_after;
    const bool is_gone = is_away || (known != nullptr && known->foreign);
    const instant heard = known != nullptr ? std::max(f.since, known->heard) : f.since;
    if (is_gone || now - heard > all_.how.forget_after) silent.push_back(what.first);
    if (f.resend_at > now) continue;
    f.resend_after = std::min(2 * f.resend_after, all_.how.forget_after / 2);
    f.resend_at = now + f.resend_after;
    peers_.send(what.first, net::fetch{what.second});
  }
  for (const address publisher : silent) end_fetches(publisher);
}

/// Ends fetches whose publisher is gone, or has nothing for this node.
void values::end_fetches(address publisher) {
  for (auto at = fetching_.begin(); at != fetching_.end();) {
    const auto current = at++;
    if (current->first.first != publisher) continue;
    const std::uint64_t id = current->first.second;
    fetching_.erase(current);
    all_.core.fetched(publisher, id, std::nullopt);
  }
}

void values::forget_served(address who) {
  std::erase_if(served_, [&](const auto& s) { return s.first.first == who; });
}

void values::alive(instant now, address from) {
  for (auto& [what, f] : fetching_)
    if (what.first == from) f.resend_at = std::max(f.resend_at, now + f.resend_after);
}

void values::found(instant now, address who) {
  for (auto& [what, f] : fetching_)
    if (what.first == who) f.resend_at = now;
}

void values::unreachable(instant now, address who) {
  forget_served(who);
  for (auto& [what, f] : fetching_)
    if (what.first == who) f.resend_at = now + all_.how.lost_after;
}

void values::gone(address who) {
  end_fetches(who);
  forget_served(who);
}

instant values::next() const {
  instant at = instant::max();
  for (const auto& [what, f] : fetching_) at = std::min(at, f.resend_at);
  return at;
}

}  // namespace cleave::net
