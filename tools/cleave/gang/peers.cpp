#include "gang/peers.hpp"

#include <algorithm>
#include <utility>

namespace gang {
namespace {

using namespace std::chrono_literals;

constexpr moment say_every = 200ms, say_least = 20ms, gone_after = 1s;
constexpr moment listen_first = 3 * say_every;  // after this time all who are there have been heard
constexpr moment orders_last = 3s, orders_known = 4 * orders_last;
constexpr std::size_t told_again = 6;
constexpr std::size_t longest_announcement = 30 << 10;

}  // namespace

peers::peers(name self, std::chrono::milliseconds slice) : self_(std::move(self)), slice_(slice) {
  following_.leader = self_;
}

void peers::set_parts(std::vector<part> parts) {
  if (parts == parts_) return;
  parts_ = std::move(parts);
  due_.changed = true;
}

void peers::set_joined(moment now, bool joined) {
  if (joined == joined_.has_value()) return;
  joined_.reset();
  if (joined) joined_ = now, due_.changed = true;
}

bool peers::add_order(moment now, order o) {
  if (orders_.said.size() >= most_orders) return false;
  o.number = ++orders_.last;
  orders_.said.emplace_back(now + orders_last, std::move(o));
  due_.changed = true;
  return true;
}

// Whether an order is new. It is said again for a while, perhaps by a daemon that was forgotten
// meanwhile.
bool peers::is_new(moment now, const name& from, const order& o) {
  if (obeyed_.size() >= 2 * most_nodes && !obeyed_.count(from))
    obeyed_.erase(
        std::min_element(obeyed_.begin(), obeyed_.end(),
                         [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
  obeyed& last = obeyed_[from];
  last.at = now;
  if (o.number <= last.number) return false;
  last.number = o.number;
  return true;
}

void peers::hear(moment now, const name& from, const heartbeat& h) {
  if (from == self_) return;
  const auto at = others_.find(from);
  if (at == others_.end() && others_.size() + 1 >= most_nodes) return;
  heard& of = at != others_.end() ? at->second : others_[from];
  if (at == others_.end()) {
    of.since = of.counted_in = now;
    due_.changed = true;  // the new node shall know of this one at once
  }
  of.last = h;
  of.at = now;
  for (const order& o : h.orders)
    if (is_new(now, from, o)) orders_.asked.push_back(o);
  for (const part& theirs : h.parts)
    for (part& own : parts_)
      if (own.id() == theirs.id() && theirs.version > own.version) {
        orders_.asked.push_back(
            {0, theirs.paused ? "pause" : "resume", own.job, own.user, own.user, theirs.version});
      }
}

void peers::hear(moment now, const name& from, const announcement& a,
                 std::optional<clock_offset::estimate> ahead) {
  const auto at = others_.find(from);
  if (at == others_.end()) return;
  heard& of = at->second;
  if (std::find(a.led.begin(), a.led.end(), self_.process) == a.led.end()) return;
  of.counted_in = now;
  if (from != following_.leader || !ahead) return;
  for (const turn& t : a.turns) {
    if (t.number <= of.last_turn) continue;
    of.last_turn = t.number;
    following_.timetable.add({t.number, t.at - ahead->offset, t.jobs});
  }
}

void peers::gone(const name& who) { others_.erase(who); }

bool peers::may_lead(moment now) const { return joined_ && now - *joined_ >= listen_first; }

peers::name peers::elected(moment now) const {
  name first = self_;
  bool found = may_lead(now);
  for (const auto& [who, of] : others_) {
    if (!of.last.may_lead || now - of.counted_in > gone_after) continue;
    if (!found || who < first) first = who, found = true;
  }
  return first;
}

void peers::follow(moment now, const name& leader) {
  if (leader == following_.leader) return;
  following_.leader = leader;
  due_.changed = true;
  if (!leads()) {  // all turns of the new leader are new to this daemon
    others_[leader].last_turn = 0;
    lead_.ring = round_robin();
    return;
  }
  // The ring goes on from where the last leader has stopped.
  lead_.told.clear();
  lead_.last_turns.clear();  // turns from an earlier time as leader are left out
  if (!following_.timetable.turns().empty()) {
    const turn& last = following_.timetable.turns().back();
    lead_.told = last.jobs;
    lead_.last_at = last.at;
    // The last turn is said anew, for all who listen to this leader only. By this node's clock it
    // may be from before the boot.
    lead_.last_turns.push_back({++lead_.number, std::max(last.at, moment(0)), last.jobs});
  }
  lead_.slice_end = std::max(now, lead_.last_at) + slice();
}

// The slice is long enough that few turns are announced and have not begun: the last ones fit into
// one message.
moment peers::slice() const { return std::max<moment>(slice_, ahead_of_time() / 3); }

moment peers::ahead_of_time() const {
  if (others_.empty()) return moment(0);
  moment trip = 0s;
  for (const auto& [who, of] : others_) {
    const auto us = std::chrono::microseconds(of.last.round_trip_us);
    trip = std::max<moment>(trip, us.count() == 0 ? unknown_trip : moment(us));
  }
  return std::min<moment>(least_ahead + trip, most_ahead);
}

// Places all jobs in the ring: those that run by what was announced last before others.
void peers::place_jobs() {
  const auto all = jobs();
  const auto find = [&](const job_id& id) {
    return std::find_if(all.begin(), all.end(), [&](const job& j) { return j.id() == id; });
  };
  for (const job_id& id : lead_.ring.jobs())
    if (find(id) == all.end()) lead_.ring.remove(id);
  const auto place = [&](const job& j) {
    lead_.ring.place(j.id(), j.nodes);
    if (j.paused) lead_.ring.pause(j.id());
    else lead_.ring.resume(j.id());
  };
  for (const job_id& id : lead_.told)
    if (const auto at = find(id); at != all.end()) place(*at);
  for (const job& j : all) place(j);
}

void peers::announce(moment at) {
  lead_.told = lead_.ring.running();
  lead_.last_at = at;
  const turn next{++lead_.number, at, lead_.told};
  following_.timetable.add(next);
  lead_.last_turns.push_back(next);
  if (lead_.last_turns.size() > told_again) lead_.last_turns.pop_front();
  due_.announcement = true;
}

void peers::lead(moment now) {
  place_jobs();
  const moment ahead = ahead_of_time();
  const auto soonest = [&] {  // turns are in their order, and 1 ms apart where there are others
    return std::max(now + ahead, ahead > moment(0) ? lead_.last_at + 1ms : lead_.last_at);
  };
  if (const auto runs = lead_.ring.running();
      runs != lead_.told) {  // somebody has come, gone or grown
    const bool begins = runs.empty() || lead_.told.empty() || runs.front() != lead_.told.front();
    announce(soonest());
    if (begins) lead_.slice_end = lead_.last_at + slice();
  }
  while (lead_.ring.contended() && now >= lead_.slice_end - ahead) {
    lead_.ring.next();
    const moment least = now + ahead * 3 / 4;
    announce(std::max({lead_.slice_end, least, lead_.last_at + 1us}));
    lead_.slice_end = lead_.last_at + slice();
  }
}

moment peers::step(moment now, std::optional<clock_offset::estimate> ahead) {
  following_.ahead = ahead.value_or(clock_offset::estimate{});
  std::erase_if(others_, [&](const auto& of) { return now - of.second.at > gone_after; });
  std::erase_if(obeyed_, [&](const auto& of) { return now - of.second.at > orders_known; });
  std::erase_if(orders_.said, [&](const auto& of) { return now > of.first; });
  follow(now, elected(now));
  if (leads()) lead(now);
  following_.timetable.prune(now);

  may_lead_ = may_lead(now);
  if (std::exchange(due_.changed, false))
    due_.heartbeat_at = std::min(due_.heartbeat_at, due_.said_at + say_least);
  if (joined_ && now >= due_.heartbeat_at) {
    due_.heartbeat = true;
    due_.said_at = now;
    due_.heartbeat_at = now + say_every;
  }
  if (leads() && now >= due_.announce_at) due_.announcement = true;
  if (due_.announcement) due_.announce_at = now + say_every;

  moment next = joined_ ? due_.heartbeat_at : moment::max();
  if (joined_ && !may_lead(now)) next = std::min(next, *joined_ + listen_first);
  if (leads() && !others_.empty()) next = std::min(next, due_.announce_at);
  if (leads() && lead_.ring.contended()) next = std::min(next, lead_.slice_end - ahead_of_time());
  for (const auto& [who, of] : others_) next = std::min(next, of.at + gone_after + 1ms);
  return next;
}

std::optional<heartbeat> peers::say_heartbeat() {
  if (!std::exchange(due_.heartbeat, false)) return std::nullopt;
  heartbeat h;
  h.may_lead = may_lead_;
  h.slice_ms = static_cast<std::uint32_t>(slice_.count());
  if (!leads()) {
    h.round_trip_us =
        std::chrono::ceil<std::chrono::microseconds>(following_.ahead.round_trip).count();
    h.error_us = std::chrono::ceil<std::chrono::microseconds>(following_.ahead.error).count();
  }
  h.late = late_;
  h.parts = parts_;
  if (h.parts.size() > most_parts) h.parts.resize(most_parts);
  for (const auto& [until, o] : orders_.said) h.orders.push_back(o);
  return h;
}

std::optional<announcement> peers::say_announcement() {
  if (!std::exchange(due_.announcement, false) || !joined_ || others_.empty()) return std::nullopt;
  announcement a;
  for (const auto& [who, of] : others_) a.led.push_back(who.process);
  a.turns.assign(lead_.last_turns.begin(), lead_.last_turns.end());
  while (a.turns.size() > 1 && encode(a).size() > longest_announcement)
    a.turns.erase(a.turns.begin());
  return a;
}

std::vector<order> peers::take_orders() { return std::exchange(orders_.asked, {}); }

std::uint32_t peers::slice_ms() const {
  const auto at = others_.find(following_.leader);
  return at != others_.end() ? at->second.last.slice_ms
                             : static_cast<std::uint32_t>(slice_.count());
}

std::vector<peers::node> peers::nodes() const {
  std::vector<node> all;
  heartbeat own;
  own.slice_ms = static_cast<std::uint32_t>(slice_.count());
  if (!leads()) {
    own.round_trip_us =
        std::chrono::ceil<std::chrono::microseconds>(following_.ahead.round_trip).count();
    own.error_us = std::chrono::ceil<std::chrono::microseconds>(following_.ahead.error).count();
  }
  own.late = late_, own.parts = parts_;
  all.push_back({self_, true, std::move(own)});
  for (const auto& [who, of] : others_) all.push_back({who, false, of.last});
  std::sort(all.begin(), all.end(), [](const node& a, const node& b) { return a.who < b.who; });
  return all;
}

std::vector<peers::job> peers::jobs() const {
  std::map<job_id, job> all;
  const auto add = [&](const std::string& machine, const std::vector<part>& parts) {
    for (const part& p : parts) {
      job& j = all.try_emplace(p.id(), job{p.user, p.job, p.command}).first->second;
      if (p.version >= j.version) j.paused = p.paused, j.version = p.version;
      // Parts on other nodes have a launcher's command.
      if (p.job.starts_with(machine + ".")) j.command = p.command;
      j.nodes.insert(machine);
    }
  };
  add(self_.machine, parts_);
  for (const auto& [who, of] : others_) add(who.machine, of.last.parts);
  std::vector<job> list;
  for (auto& [id, j] : all) list.push_back(std::move(j));
  return list;
}

}  // namespace gang
