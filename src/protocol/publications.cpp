#include "protocol/publications.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cleave::net {

// ---- whoever fetches

void publications::fetch(instant now, address publisher, std::uint64_t id) {
  const name what{publisher, id};
  fetching& f = fetching_[what];
  f = {publisher, now, 0, now + all_.how.give_up_after, all_.how.give_up_after};
  copies_.erase(what);
  ask(what, f, false);
}

void publications::ask(const name& what, fetching& f, bool again, std::optional<address> without) {
  const auto c = copies_.find(what);
  f.asked = c != copies_.end() ? c->second.contents.size() : 0;
  peers_.send(f.from,
              net::fetch{what.first, what.second, f.asked, again, without ? *without + 1 : 0});
}

/// The node that was to send it does not.
void publications::ask_publisher(instant now, const name& what, fetching& f) {
  if (all_.breaks(mutation::keep_silent_source)) return;
  const address without = std::exchange(f.from, what.first);
  f.resend_at = now + f.resend_after;
  ask(what, f, true, without);
}

/// Whether these bytes are the next ones of the copy, and were added.
bool publications::append(copy& c, const published& m) const {
  if (c.begun && m.size != c.size) return false;
  const std::uint64_t have = c.contents.size(), end = m.at + m.contents.size();
  if (end > m.size || end < m.at) return false;
  c.begun = true, c.size = m.size;
  if (m.at > have && !all_.breaks(mutation::append_any_part)) return false;
  if (end <= have && m.size != 0) return false;
  const auto known = static_cast<std::ptrdiff_t>(m.at > have ? 0 : have - m.at);
  c.contents.insert(c.contents.end(), m.contents.begin() + known, m.contents.end());
  return true;
}

void publications::on_published(instant now, address from, const published& m) {
  const name what{m.publisher, m.id};
  const auto at = fetching_.find(what);
  if (at == fetching_.end()) return;
  fetching& f = at->second;
  if (from != f.from) return;
  if (m.how == publishing::part) {
    copy& c = copies_[what];
    if (!append(c, m)) return;
    c.used = f.since = now;
    f.resend_after = std::max(f.resend_after / 2, all_.how.give_up_after);
    f.resend_at = now + f.resend_after;
    pass_on(what, c);
    const std::uint64_t have = c.contents.size();
    if (c.is_whole()) return end(what, c.contents);
    if (have - f.asked >= all_.how.part_bytes * all_.how.parts_ahead / 2) ask(what, f, false);
    return;
  }
  if (m.how == publishing::elsewhere) {
    if (from != what.first || m.elsewhere == all_.self.self) return;
    f.from = m.elsewhere;
    f.resend_at = now + f.resend_after;
    ask(what, f, true);
  } else if (from != what.first) {
    ask_publisher(now, what, f);
  } else {
    end(what, std::nullopt);
  }
}

/// Core is told. Whoever has sent a large datum learns that all of it has come.
void publications::end(const name& what, std::optional<bytes> contents) {
  const auto at = fetching_.find(what);
  const auto c = copies_.find(what);
  if (!contents || contents->size() <= all_.how.small_bytes) {
    if (c != copies_.end() && (!contents || c->second.readers.empty())) copies_.erase(c);
  } else {
    ask(what, at->second, false);
  }
  fetching_.erase(at);
  all_.core.fetched(what.first, what.second, std::move(contents));
}

/// A fetch ends with its data, or when its publisher is gone. Large data take their time, and what
/// is sent after them too: so this needs a longer silence than a task does. And who has come just
/// now may not have heard of the publisher yet. One that seems lost may be back in a moment, while
/// the error that would say so here ends the job.
bool publications::is_unreachable(instant now, const name& what, const fetching& f) const {
  const peer* const known = peers_.find(what.first);
  const bool is_away = known != nullptr && !known->reachable &&
                       now - std::max(f.since, known->lost_at) >= all_.how.lost_after;
  const instant heard = known != nullptr ? std::max(f.since, known->heard) : f.since;
  return is_away || (known != nullptr && known->foreign) || now - heard > all_.how.forget_after;
}

void publications::tick(instant now) {
  std::vector<name> silent;
  for (auto& [what, f] : fetching_) {
    if (is_unreachable(now, what, f)) silent.push_back(what);
    if (f.resend_at > now) continue;
    f.resend_after = std::min(2 * f.resend_after, all_.how.forget_after / 2);
    f.resend_at = now + f.resend_after;
    f.from == what.first ? ask(what, f, true) : ask_publisher(now, what, f);
  }
  for (const name& what : silent) end(what, std::nullopt);
  for (auto& [what, c] : copies_) {
    std::erase_if(c.readers,
                  [&](const auto& r) { return now - r.second.heard > all_.how.forget_after; });
  }
  std::erase_if(copies_, [&](const auto& c) {
    return c.second.readers.empty() && fetching_.count(c.first) == 0 &&
           now - c.second.used > all_.how.keep_published;
  });
}

// ---- whoever has it

/// This node's own datum; null if there is no such one.
publications::copy* publications::own(instant now, std::uint64_t id) {
  const name what{all_.self.self, id};
  auto at = copies_.find(what);
  if (at == copies_.end()) {
    auto contents = all_.core.publication(id);
    if (!contents) return nullptr;
    at = copies_.emplace(what, copy{}).first;
    at->second.size = contents->size();
    at->second.begun = true;
    at->second.contents = std::move(*contents);
  }
  at->second.used = now;
  return &at->second;
}

void publications::on_fetch(instant now, address from, const net::fetch& m) {
  peers_.fetches(from, now + all_.how.forget_after);
  const name what{m.publisher, m.id};
  const published absent{m.publisher, m.id, publishing::absent, 0, 0, 0, {}};
  if (m.publisher != all_.self.self) {
    if (copies_.count(what) == 0 && fetching_.count(what) == 0) return peers_.send(from, absent);
    return serve(now, from, what, copies_[what], m);
  }
  copy* const c = own(now, m.id);
  if (c == nullptr) return peers_.send(from, absent);
  if (c->size <= all_.how.small_bytes) return send_whole(now, from, what, *c);
  if (c->readers.count(from) == 0 && m.from < c->size) {
    const std::size_t parts = c->contents.size() / all_.how.part_bytes;
    holders& tree =
        holders_.try_emplace(m.id, all_.self.self, all_.how.readers, parts / 8).first->second;
    if (m.without != 0) tree.forget(m.without - 1);
    const address source = tree.source_for(from, site_of(from), c->readers.size());
    if (source != all_.self.self)
      return peers_.send(from,
                         published{m.publisher, m.id, publishing::elsewhere, source, 0, 0, {}});
  }
  serve(now, from, what, *c, m);
}

/// Small data go at once to all that ask, but not twice while they can be on their way.
void publications::send_whole(instant now, address to, const name& what, const copy& c) {
  std::erase_if(sent_, [&](const auto& s) { return s.second <= now; });
  const instant takes{static_cast<instant::rep>(c.size / all_.how.slowest_link)};
  if (!sent_.emplace(std::pair(to, what), now + takes).second) return;
  peers_.send(to, published{what.first, what.second, publishing::part, 0, 0, c.size, c.contents});
}

void publications::serve(instant now, address to, const name& what, copy& c, const net::fetch& m) {
  c.used = now;
  if (c.begun && m.from >= c.size && c.size != 0) {
    c.readers.erase(to);
    return;
  }
  reader& r = c.readers[to];
  r.heard = now;
  r.until = m.from + all_.how.part_bytes * all_.how.parts_ahead;
  r.sent = m.again ? m.from : std::max(r.sent, m.from);
  pass_on(what, c);
}

void publications::pass_on(const name& what, copy& c) {
  const std::uint64_t have = c.contents.size();
  for (auto& [to, r] : c.readers) {
    while (r.sent < std::min(have, r.until)) {
      const std::uint64_t n = std::min<std::uint64_t>(all_.how.part_bytes, have - r.sent);
      if (n < all_.how.part_bytes && !c.is_whole()) break;
      const auto first = c.contents.begin() + static_cast<std::ptrdiff_t>(r.sent);
      peers_.send(to, published{what.first, what.second, publishing::part, 0, r.sent, c.size,
                                bytes(first, first + static_cast<std::ptrdiff_t>(n))});
      r.sent += n;
    }
  }
}

/// Numbers sites for the holders: this node's is 0.
std::uint64_t publications::site_of(address who) const {
  const peer* const p = peers_.find(who);
  return p != nullptr && p->how_far == distance::far ? p->site + 1 : 0;
}

// ---- what the node hears

void publications::alive(instant now, address from) {
  for (auto& [what, f] : fetching_)
    if (f.from == from) f.resend_at = std::max(f.resend_at, now + f.resend_after);
}

void publications::found(instant now, address who) {
  for (auto& [what, f] : fetching_)
    if (f.from == who) f.resend_at = now;
}

void publications::unreachable(instant now, address who) {
  std::erase_if(sent_, [&](const auto& s) { return s.first.first == who; });
  for (auto& [what, f] : fetching_) {
    if (what.first == who) f.resend_at = now + all_.how.lost_after;
    else if (f.from == who) ask_publisher(now, what, f);
  }
}

void publications::gone(instant now, address who) {
  std::erase_if(sent_, [&](const auto& s) { return s.first.first == who; });
  for (auto& [what, c] : copies_) c.readers.erase(who);
  for (auto& [id, tree] : holders_) tree.forget(who);
  // Another process at that address may give its data the same numbers.
  std::erase_if(copies_, [&](const auto& c) { return c.first.first == who; });
  std::vector<name> over;
  for (auto& [what, f] : fetching_) {
    if (what.first == who) over.push_back(what);
    else if (f.from == who) ask_publisher(now, what, f);
  }
  for (const name& what : over) end(what, std::nullopt);
}

instant publications::next() const {
  instant at = instant::max();
  for (const auto& [what, f] : fetching_) at = std::min(at, f.resend_at);
  return at;
}

}  // namespace cleave::net
