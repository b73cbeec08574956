#include "sim/world.hpp"

#include <algorithm>
#include <utility>

#include "sim/machine.hpp"
#include "sim/relays.hpp"

namespace sim {
namespace {

std::string at_time(instant t) { return std::to_string(t.count()) + " us"; }

}  // namespace

std::string to_string(const happening& h) {
  static constexpr const char* names[] = {"joins",  "crashes",   "restarts",
                                          "leaves", "partition", "heals"};
  std::string s = names[static_cast<int>(h.what)];
  if (h.what == happening::kind::part) return s + " " + std::to_string(h.side);
  if (h.what == happening::kind::heal) return s;
  return "node " + std::to_string(h.node) + " " + s + (h.foreign ? " with another program" : "");
}

world::world(const tree& work, world_settings how)
    : tree_(work), how_(std::move(how)), random_(how_.seed) {}
world::~world() = default;

report world::run(const std::vector<happening>& happenings, instant limit) {
  for (unsigned i = 0; i < happenings.size(); ++i)
    push({happenings[i].at, 0, event_kind::happening, happenings[i].node, i, 0, 0, {}});
  while (report_.violation.empty() && !events_.empty()) {
    std::pop_heap(events_.begin(), events_.end(), later{});
    event e = std::move(events_.back());
    events_.pop_back();
    now_ = e.at;
    if (now_ > limit) {
      violation(done_ ? "not all is quiet after the end" : "a wait does not end");
      break;
    }
    ++report_.events;
    if (how_.progress && now_ >= told_at_ + instant(1'000'000)) tell_progress();
    handle(e, happenings);
    if (done_ && (!how_.checks || quiet())) break;
  }
  for (const auto& m : machines_) {
    if (m && m->core) {
      report_.busy += m->core->busy_time();
      report_.busy_at[site_of(m->number)] += m->core->busy_time();
    }
    if (done_ && how_.checks && m && m->alive && !m->core->has_data())
      violation("published data have not come");
  }
  if (const std::string wrong = machines_[0]->gathered.fault(); how_.checks && !wrong.empty())
    violation(wrong);
  return std::move(report_);
}

// Events.

void world::push(event e) {
  if (e.at < now_) violation("time goes back");
  e.order = ++order_;
  events_.push_back(std::move(e));
  std::push_heap(events_.begin(), events_.end(), later{});
}

void world::push_worker(unsigned node, unsigned worker, std::uint64_t epoch, instant at) {
  push({at, 0, event_kind::worker, node, worker, epoch, machines_[node]->generation, {}});
}
void world::push_poll(unsigned node, unsigned slot, std::uint64_t epoch, instant at) {
  push({at, 0, event_kind::poll, node, slot, epoch, machines_[node]->generation, {}});
}
void world::push_answer(unsigned node, unsigned slot, std::uint64_t epoch, instant at) {
  push({at, 0, event_kind::answer, node, slot, epoch, machines_[node]->generation, {}});
}

void world::tell_progress() {
  told_at_ = now_;
  std::uint64_t visited = 0;
  for (const auto& m : machines_) visited += m && m->core ? m->core->visited() : 0;
  how_.progress(now_, visited);
}

void world::handle(event& e, const std::vector<happening>& happenings) {
  if (e.kind == event_kind::happening) return happen(happenings[e.which]);
  if (e.kind == event_kind::deliver) return deliver(e);
  machine& m = *machines_[e.node];
  if (!m.alive || m.generation != e.generation) return;
  switch (e.kind) {
    case event_kind::worker: m.core->worker_event(e.which, e.epoch); break;
    case event_kind::poll: m.core->poll_event(e.which, e.epoch); break;
    case event_kind::answer: m.core->answer_event(e.which, e.epoch); break;
    case event_kind::lost:
      // A peer that is there again is not lost: the transport has a new connection to it.
      if (machines_[e.which]->generation == e.epoch) m.node->peer_lost(now_, e.which);
      break;
    case event_kind::tick:
      if (e.at != m.tick_at) return;
      m.tick_at = instant::max();
      m.node->tick(now_);
      break;
    case event_kind::deliver:
    case event_kind::happening: break;
  }
  after(e.node);
}

/// What follows from an event of a node: its workers act, its next tick is pushed.
void world::after(unsigned node) {
  machine& m = *machines_[node];
  m.core->settle();
  // A node makes an update for each second task that comes to it.
  if (how_.checks && !m.foreign && m.core->started() / 2 > m.gathered.made())
    m.node->updated(now_, gathered_list::name, {m.gathered.make(m.process)});
  if (m.node->member() == net::membership::left) {
    note("node " + std::to_string(node) + " has left");
    return stop(node);
  }
  const instant next = std::max(m.node->next(), now_ + instant(1));
  if (next < m.tick_at) {
    m.tick_at = next;
    push({next, 0, event_kind::tick, node, 0, 0, m.generation, {}});
  }
  if (how_.checks) check(node);
}

void world::happen(const happening& h) {
  note(to_string(h));
  const bool there = h.node < machines_.size() && machines_[h.node] && machines_[h.node]->alive;
  switch (h.what) {
    case happening::kind::join:
    case happening::kind::restart:
      if (!there) boot(h.node, h.foreign);
      return;
    case happening::kind::crash:
      calm_ = false;
      if (there) stop(h.node);
      return;
    case happening::kind::leave: {
      calm_ = false;
      if (!there) return;
      machine& m = *machines_[h.node];
      if (m.node->member() != net::membership::active) return;
      m.started_at_leave = m.core->started();
      m.node->leave(now_, now_ + h.deadline);
      return after(h.node);
    }
    case happening::kind::part:
      calm_ = false;
      parted_once_ = true;
      parted_ = h.side;
      return;
    case happening::kind::heal: parted_.reset(); return;
  }
}

void world::boot(unsigned node, bool foreign) {
  if (machines_.size() <= node) machines_.resize(node + 1);
  if (!machines_[node]) machines_[node] = std::make_unique<machine>(*this, node);
  machine& m = *machines_[node];
  ++m.generation;
  m.alive = true;
  m.foreign = foreign;
  m.process = random_.next() | 1;
  m.tick_at = instant::max();
  m.started_at_leave.reset();
  core_settings settings = how_.core;
  if (how_.workers) settings.workers = how_.workers(node);
  m.gathered = {};
  m.core = std::make_unique<core>(*this, tree_, settings, node, random_.next());
  m.node = std::make_unique<protocol>(net::identity{node, m.process, foreign ? 2U : 1U},
                                      how_.protocol, *m.core, m.gathered, m);
  m.core->connect(*m.node);
  if (how_.servers) how_.servers->add(node, site_of(node));
  if (node == 0) m.core->start_root();
  const auto far = [&](unsigned other) {
    return site_of(node) == site_of(other) ? net::distance::same_site : net::distance::far;
  };
  for (unsigned other = 0; other < machines_.size(); ++other) {
    if (other == node || !machines_[other] || !machines_[other]->alive) continue;
    m.node->peer_found(now_, other, far(other), site_of(other));
    machines_[other]->node->peer_found(now_, node, far(other), site_of(node));
    after(other);
  }
  if (how_.checks && node != 0 && !foreign) m.core->fetch(0);
  after(node);
}

/// The process is gone, with all that it knew.
void world::stop(unsigned node) {
  machine& m = *machines_[node];
  m.alive = false;
  report_.busy += m.core->busy_time();
  report_.busy_at[site_of(node)] += m.core->busy_time();
  m.core.reset();
  m.node.reset();
  std::erase_if(stale_, [&](const auto& s) { return s.first.first == node; });
  if (!how_.tells_losses) return;
  for (unsigned other = 0; other < machines_.size(); ++other) {
    if (other == node || !machines_[other] || !machines_[other]->alive) continue;
    const auto delay = instant(static_cast<std::int64_t>(random_.below(20'000)));
    push({now_ + how_.told_after + delay,
          0,
          event_kind::lost,
          other,
          node,
          m.generation,
          machines_[other]->generation,
          {}});
  }
}

// Messages.

unsigned world::site_of(unsigned node) const { return how_.site ? how_.site(node) : 0; }

bool world::chance(double p) {
  return p > 0 && static_cast<double>(random_.next() >> 11) * 0x1p-53 < p;
}

void world::send(unsigned from, net::address to, net::message m) {
  if (how_.checks) watch_sent(from, to, m);
  if (how_.logs) {
    note("node " + std::to_string(from) + " sends " + net::name(m.body) + " to node " +
         (to == net::relay_address ? "any" : std::to_string(to)));
  }
  ++report_.messages;
  if (std::holds_alternative<net::task>(m.body)) ++report_.tasks;
  if (std::holds_alternative<net::task_request>(m.body)) ++report_.requests;
  if (to == net::relay_address) return relay_request(from, m);
  const auto target = static_cast<unsigned>(to);
  if (how_.servers) how_.servers->passes(from, target, m);
  const net::bytes encoded = net::encode(m);
  report_.bytes += encoded.size();
  if (parted_ && ((*parted_ >> from ^ *parted_ >> target) & 1) != 0) return;
  if (chance(how_.loss)) return;
  if (chance(how_.duplication)) transmit(from, target, encoded);
  transmit(from, target, encoded);
}

void world::transmit(unsigned from, unsigned to, net::bytes message) {
  const link l = how_.between(site_of(from), site_of(to));
  instant at = now_ + l.latency;
  if (l.megabits > 0) {
    // The link between two sites carries one message after the other.
    instant& busy = wire_busy_[{site_of(from), site_of(to)}];
    const auto takes =
        static_cast<std::int64_t>(static_cast<double>(message.size()) * 8 / l.megabits);
    busy = std::max(busy, now_) + instant(takes);
    at = busy + l.latency;
  }
  if (how_.jitter.count() > 0)
    at += instant(
        static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(how_.jitter.count()))));
  if (how_.checks && !how_.reorders) {
    instant& last = arrives_[{from, to}];
    at = last = std::max(last, at);
  }
  push({at, 0, event_kind::deliver, to, from, 0, machines_[from]->generation, std::move(message)});
}

/// What a server does with a request for anything.
void world::relay_request(unsigned from, const net::message& m) {
  const auto to = how_.servers->route(from);
  if (to) return transmit(from, *to, net::encode(m));
  const net::none answer{std::get<net::task_request>(m.body).request, 0};
  const net::message back{m.program, 1, m.from, answer};
  push({now_ + 2 * how_.between(0, 0).latency, 0, event_kind::deliver, from, ~0U, 0, 0,
        net::encode(back)});
}

void world::deliver(event& e) {
  if (e.node >= machines_.size() || !machines_[e.node] || !machines_[e.node]->alive) return;
  const net::address from = e.which == ~0U ? net::relay_address : e.which;
  if (how_.checks && from != net::relay_address) {
    // A transport does not deliver what a process sent after what its successor sent.
    std::uint64_t& newest = newest_[{e.which, e.node}];
    if (e.generation < newest) return;
    newest = e.generation;
  }
  net::message m;
  if (const char* wrong = net::decode(e.message, m))
    return violation(std::string("a message ") + wrong);
  if (how_.logs) {
    note("node " + std::to_string(e.node) + " gets " + net::name(m.body) + " from node " +
         std::to_string(from));
  }
  machines_[e.node]->node->receive(now_, from, m);
  if (how_.checks) watch_delivered(e.node, m);
  after(e.node);
}

// The end, and what is wrong.

void world::root_done(const piece& root) {
  done_ = true;
  report_.ended = now_;
  note("the root is done");
  if (!how_.core.exact) return;
  const auto thrower = std::find(tree_.throws.begin(), tree_.throws.end(), true);
  const auto expected = thrower == tree_.throws.end()
                            ? 0
                            : static_cast<std::uint32_t>(thrower - tree_.throws.begin()) + 1;
  if (root.error != expected) return violation("the root ends with another error than it should");
  if (how_.core.search && machines_[0]->core->best() != tree_.best())
    violation("the best node is not found: " + std::to_string(machines_[0]->core->best()) +
              " instead of " + std::to_string(tree_.best()));
}

/// Whether the node has all updates, and all have its own.
bool world::has_gathered(const machine& m) const {
  if (m.foreign) return true;
  return m.gathered.all() == machines_[0]->gathered.all() &&
         m.node->gathered().has_taken(m.node->gathered().made());
}

bool world::quiet() const {
  return std::all_of(machines_.begin(), machines_.end(), [this](const auto& m) {
    if (!m || !m->alive) return true;
    const auto free = [](const net::request_slot& s) {
      return s.is == net::request_slot::state::free;
    };
    return m->core->idle() && m->core->has_data() && has_gathered(*m) && m->node->given().empty() &&
           m->node->held().empty() &&
           std::all_of(m->node->slots().begin(), m->node->slots().end(), free);
  });
}

void world::violation(const std::string& what) {
  if (!report_.violation.empty()) return;
  report_.violation = what + " (at " + at_time(now_) + ")";
  note("WRONG: " + what);
}

void world::note(const std::string& line) {
  if (how_.logs) report_.log.push_back(at_time(now_) + "  " + line);
}

}  // namespace sim
