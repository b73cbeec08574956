#include "protocol/gathering.hpp"

#include <algorithm>
#include <iterator>

namespace cleave::net {

// ---- who makes updates

void gathering::updated(instant now, const gathered_name& name, std::vector<bytes> updates) {
  made_ += updates.size();
  const address self = all_.self.self;
  if (name.home() == self)
    return put_in_order(name, self, orders_[name].taken_of(self) + 1, updates);
  own_updates& u = sent_[name];
  if (u.over) return;
  const std::size_t from = u.updates.size();
  const bool waits = !u.is_taken();
  std::uint64_t number = made_ - updates.size();
  for (bytes& update : updates) u.updates.emplace_back(++number, std::move(update));
  if (!waits) begin(now, u.send);
  send(name, u, from);
}

void gathering::send(const gathered_name& name, const own_updates& u, std::size_t from) const {
  gathered_updates m{name, u.first + from, {}};
  for (std::size_t i = from; i < u.updates.size(); ++i) m.updates.push_back(u.updates[i].second);
  peers_.send(name.home(), std::move(m));
}

void gathering::on_receipt(const gathered_receipt& m) {
  const auto at = sent_.find(m.name);
  if (at == sent_.end() || m.number <= at->second.taken) return;
  own_updates& u = at->second;
  u.taken = std::min(m.number, u.first + u.updates.size() - 1);
  u.version = m.version;
  if (u.is_taken()) u.send = {};
  all_.gathered.taken(m.name, m.version, m.number);
  const auto r = replicas_.find(m.name);
  if (!all_.gathered.has(m.name)) forget_taken(m.name, m.version);
  else if (r != replicas_.end() && !r->second.absent) forget_taken(m.name, r->second.version);
}

/// The replica has the first `version` updates in the home's order.
void gathering::forget_taken(const gathered_name& name, std::uint64_t version) {
  const auto at = sent_.find(name);
  if (at == sent_.end() || version < at->second.version) return;
  own_updates& u = at->second;
  while (u.first <= u.taken) u.updates.pop_front(), ++u.first;
}

bool gathering::has_taken(std::uint64_t count) const {
  return std::all_of(sent_.begin(), sent_.end(), [count](const auto& one) {
    const own_updates& u = one.second;
    return u.over || u.is_taken() || u.updates[u.first_untaken()].first > count;
  });
}

// ---- the home

/// Updates of a node that follow those that it is known to have made. An empty list: the value has
/// changed in a way that only the value tells.
void gathering::put_in_order(const gathered_name& name, address from, std::uint64_t first,
                             const std::vector<bytes>& updates) {
  order& o = orders_[name];
  gathered_news m{name, all_.self.self - 1, o.version + 1, {}};
  std::uint64_t& taken = o.taken[from];
  for (std::uint64_t number = first; number < first + updates.size(); ++number) {
    if (number != taken + 1 && !all_.breaks(mutation::take_updates_twice)) continue;
    taken = number;
    m.updates.push_back({from, number, updates[number - first]});
  }
  if (updates.empty()) {
    o.newest.clear(), o.bytes = 0;
    return all_.gathered.arrived(name, ++o.version, {});
  }
  if (m.updates.empty()) return;
  o.version += m.updates.size();
  for (const ordered_update& u : m.updates) {
    o.bytes += u.update.size();
    o.newest.push_back(u);
  }
  while (o.bytes > all_.how.gathered_log) {
    o.bytes -= o.newest.front().update.size();
    o.newest.pop_front();
  }
  all_.gathered.arrived(name, o.version, m.updates);
  spread(m);
}

void gathering::on_updates(address from, const gathered_updates& m) {
  if (!all_.gathered.has(m.name)) {  // it has ended
    orders_.erase(m.name);
    return peers_.send(from, gathered_receipt{m.name, m.first + m.updates.size() - 1, 0});
  }
  if (!m.updates.empty()) put_in_order(m.name, from, m.first, m.updates);
  const order& o = orders_[m.name];
  peers_.send(from, gathered_receipt{m.name, o.taken_of(from), o.version});
}

void gathering::on_ask(address from, const gathered_ask& m) {
  if (!all_.gathered.has(m.name)) return;
  const order& o = orders_[m.name];
  const std::uint64_t kept_from = o.version - o.newest.size();
  if (m.absent || m.version < kept_from) {
    const auto state = all_.gathered.here(m.name);
    if (!state) return;  // it is asked again
    return peers_.send(
        from, gathered_value{m.name, o.version, state->early, o.taken_of(from), state->value});
  }
  gathered_news news{m.name, from, m.version + 1, {}};
  std::size_t size = 0;
  for (std::uint64_t i = m.version; i < o.version && size <= all_.how.small_bytes; ++i) {
    news.updates.push_back(o.newest[i - kept_from]);
    size += news.updates.back().update.size();
  }
  peers_.send(from, std::move(news));
}

std::vector<gathered_version> gathering::told() {
  std::erase_if(orders_, [&](const auto& o) { return !all_.gathered.has(o.first); });
  std::vector<gathered_version> some;
  const std::size_t most = std::min(orders_.size(), all_.how.gathered_told);
  auto at = orders_.begin();
  if (most < orders_.size()) std::advance(at, peers_.random().below(orders_.size()));
  for (; some.size() < most; ++at) {
    if (at == orders_.end()) at = orders_.begin();
    some.push_back({at->first, at->second.version});
  }
  return some;
}

// ---- replicas

void gathering::wanted(instant now, const gathered_name& name, bool absent, std::uint64_t version) {
  if (name.home() == all_.self.self) return;
  replica& r = replicas_[name];
  const bool waited = r.is_behind();
  if (absent) r.absent = true;
  r.newest = std::max(r.newest, version);
  if (!r.is_behind() || (waited && !absent)) return;
  begin_asking(now, name, r);
}

void gathering::ask(const gathered_name& name, const replica& r) const {
  peers_.send(name.home(), gathered_ask{name, r.absent, r.version});
}

void gathering::begin_asking(instant now, const gathered_name& name, replica& r) const {
  begin(now, r.ask);
  ask(name, r);
}

void gathering::spread(const gathered_news& m) {
  peers_.spread(m.last, all_.how.update_branches, [&m](address last) {
    gathered_news part = m;
    part.last = last;
    return part;
  });
}

void gathering::on_news(instant now, address from, const gathered_news& m) {
  spread(m);
  if (m.name.home() == all_.self.self || !all_.gathered.has(m.name)) return;
  replica& r = replicas_[m.name];
  const bool waited = r.is_behind();
  const std::uint64_t last = m.first + m.updates.size() - 1;
  r.newest = std::max(r.newest, last);
  if (r.absent) return;
  if (m.first > r.version + 1 && !all_.breaks(mutation::pass_over_gap)) {
    if (!waited) begin_asking(now, m.name, r);
    return;
  }
  if (last > r.version) {
    const auto known =
        m.first > r.version ? 0 : static_cast<std::ptrdiff_t>(r.version + 1 - m.first);
    r.version = last;
    all_.gathered.arrived(m.name, last, {m.updates.begin() + known, m.updates.end()});
    forget_taken(m.name, last);
  }
  if (!r.is_behind()) return void(r.ask = {});
  // The home has sent a part of what is missing.
  if (from == m.name.home() && waited) begin_asking(now, m.name, r);
}

void gathering::on_value(instant now, address from, const gathered_value& m) {
  if (from != m.name.home() || !all_.gathered.has(m.name)) return;
  replica& r = replicas_[m.name];
  if (!r.absent && m.version <= r.version) return;
  own_updates& u = sent_[m.name];
  // A replica that was here before may have made some; this one has made none yet.
  if (r.absent && u.updates.empty()) u.first = m.yours + 1, u.taken = m.yours;
  std::vector<bytes> own;
  for (std::size_t i = 0; i < u.updates.size(); ++i)
    if (u.first + i > m.yours) own.push_back(u.updates[i].second);
  r.absent = false;
  r.version = m.version;
  r.newest = std::max(r.newest, m.version);
  all_.gathered.replaced(m.name, m, own);
  forget_taken(m.name, m.version);
  if (!r.is_behind()) return void(r.ask = {});
  begin_asking(now, m.name, r);
}

void gathering::on_heartbeat(instant now, address from, const std::vector<gathered_version>& told) {
  for (const gathered_version& one : told) {
    if (one.name.home() != from || !all_.gathered.has(one.name)) continue;
    replica& r = replicas_[one.name];
    const bool waited = r.is_behind();
    r.newest = std::max(r.newest, one.version);
    if (r.is_behind() && !waited) begin(now, r.ask);  // the news may be on their way
  }
}

// ---- time

void gathering::begin(instant now, waiting& w) const {
  w = {now + all_.how.resend_after, all_.how.resend_after, now};
}

void gathering::again(instant now, waiting& w) const {
  w.resend_after = std::min(2 * w.resend_after, all_.how.lost_after);
  w.resend_at = now + w.resend_after;
}

/// Whether it is in vain to wait for the home any longer.
bool gathering::is_over(instant now, address home, const waiting& w) const {
  const peer* const p = peers_.find(home);
  if (p != nullptr && p->foreign) return true;
  const instant heard = p != nullptr ? std::max(w.since, p->heard) : w.since;
  return now - heard > all_.how.forget_after;
}

/// What was made meanwhile is not numbered anew: the home may live after all.
void gathering::give_up(const gathered_name& name) {
  if (const auto at = sent_.find(name); at != sent_.end()) {
    own_updates& u = at->second;
    u.over = true;
    u.send = {};
    u.updates.clear(), u.taken = u.first - 1;
  }
  replicas_.erase(name);
  all_.gathered.gone(name);
}

void gathering::tick(instant now) {
  std::vector<gathered_name> over;
  for (auto& [name, u] : sent_) {
    if (u.send.resend_at > now) continue;
    if (is_over(now, name.home(), u.send)) over.push_back(name);
    again(now, u.send);
    if (!all_.breaks(mutation::forget_updates)) send(name, u, u.first_untaken());
  }
  for (auto& [name, r] : replicas_) {
    if (r.ask.resend_at > now || !all_.gathered.has(name)) continue;
    if (is_over(now, name.home(), r.ask)) over.push_back(name);
    again(now, r.ask);
    ask(name, r);
  }
  for (const gathered_name& name : over) give_up(name);
}

void gathering::forget_unused() {
  std::erase_if(replicas_, [&](const auto& r) { return !all_.gathered.has(r.first); });
  std::erase_if(sent_,
                [&](const auto& s) { return s.second.is_taken() && !all_.gathered.has(s.first); });
}

instant gathering::next() const {
  instant at = instant::max();
  for (const auto& [name, u] : sent_) at = std::min(at, u.send.resend_at);
  for (const auto& [name, r] : replicas_) at = std::min(at, r.ask.resend_at);
  return at;
}

void gathering::gone(address who) {
  for (auto& [name, o] : orders_) o.taken.erase(who);
  std::vector<gathered_name> over;
  for (const auto& [name, r] : replicas_)
    if (name.home() == who) over.push_back(name);
  for (const auto& [name, u] : sent_)
    if (name.home() == who) over.push_back(name);
  for (const gathered_name& name : over) give_up(name);
  // Another process there gives its variables the same names, and has taken nothing.
  std::erase_if(sent_, [&](const auto& u) { return u.first.home() == who; });
}

}  // namespace cleave::net
