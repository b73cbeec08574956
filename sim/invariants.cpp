#include <algorithm>

#include "protocol/encoding.hpp"
#include "sim/machine.hpp"
#include "sim/world.hpp"

/// What must be true after every event of a world.
namespace sim {
namespace {

std::uint64_t best_in(const net::bytes& shared) {
  return shared.empty() ? 0 : net::reader(shared).number();
}

}  // namespace

void world::watch_sent(unsigned from, net::address to, const net::message& m) {
  if (to == net::relay_address) return;
  if (const auto* q = std::get_if<net::task_request>(&m.body)) {
    asked_[{m.from, q->request}] = m.to;
    if (machines_[from]->started_at_leave) violation("a leaving node asks for work");
  }
  std::optional<std::uint64_t> answers;
  if (const auto* t = std::get_if<net::task>(&m.body)) answers = t->request;
  if (const auto* n = std::get_if<net::none>(&m.body)) answers = n->request;
  if (answers) {
    const auto asked = asked_.find({m.to, *answers});
    if (asked != asked_.end() && asked->second != 0 && asked->second != m.from)
      violation("a request for an earlier process is answered");
    // A request that came twice, and was for whoever is there, may find another process the second
    // time.
    const bool for_anybody = asked != asked_.end() && asked->second == 0;
    const auto [first, is_new] = answered_.emplace(std::pair(m.to, *answers), m.from);
    if (!is_new && (first->second == m.from || !for_anybody))
      violation("a request is answered twice");
    open_.erase({m.to, *answers});
  }
  const auto* r = std::get_if<net::task_result>(&m.body);
  if (r != nullptr && r->how != net::ending::refused && how_.core.search) {
    // A result that is sent again carries what it carried first.
    const bool first = results_.emplace(m.from, net::full_key{m.to, r->key}).second;
    if (first && best_in(r->shared) < machines_[from]->core->best())
      violation("a result does not carry the newest shared value");
  }
}

void world::watch_delivered(unsigned to, const net::message& m) {
  const machine& target = *machines_[to];
  const auto* t = std::get_if<net::task>(&m.body);
  const net::full_key key = t == nullptr ? net::full_key{} : net::full_key{m.from, t->key};
  const net::held_tasks& held = target.node->held();
  if (t != nullptr && m.to != target.process && held.id_of(key) != 0)
    violation("a task for an earlier process is taken");
  if (m.to != target.process || m.program != (target.foreign ? 2U : 1U)) return;
  if (t != nullptr && held.id_of(key) == 0 && !held.was_here(key)) violation("a task is dropped");
  if (const auto* q = std::get_if<net::task_request>(&m.body);
      q != nullptr && calm_ && how_.loss == 0) {
    const bool mine = answered_.count({m.from, q->request}) != 0;
    // A worker that has taken it on may need two milliseconds more.
    if (!mine)
      open_.emplace(std::pair(m.from, q->request),
                    unanswered_request{to, target.generation,
                                       now_ + how_.protocol.none_after + instant(5'000)});
  }
}

void world::check(unsigned node) {
  const machine& m = *machines_[node];
  for (const auto& [id, p] : m.core->pieces()) {
    const bool given = m.node->given().count(id) != 0;
    if ((p.is == piece::state::away) != given)
      violation("core and protocol differ on whether a task is away");
    if (p.came_as == 0 || p.stopped || p.is != piece::state::running) continue;
    const auto held = std::find_if(m.node->held().begin(), m.node->held().end(),
                                   [&, as = p.came_as](const auto& h) { return h.first == as; });
    if (held == m.node->held().end()) violation("a task runs that the protocol does not know");
  }
  for (const auto& [id, t] : m.node->given()) {
    if (m.core->pieces().count(id) == 0) violation("a task is away that core does not know");
  }
  for (const auto& [id, t] : m.node->held()) {
    const auto runs = [as = id](const auto& p) { return p.second.came_as == as; };
    const auto& pieces = m.core->pieces();
    if (t.is == net::held_task::state::running && std::none_of(pieces.begin(), pieces.end(), runs))
      violation("a task is held that nobody runs");
  }
  check_held(node);
  if (std::string fault = m.core->stack_fault(); !fault.empty()) violation(fault);
  if (m.started_at_leave && m.core->started() != *m.started_at_leave)
    violation("a leaving node takes a task");
  if (m.foreign && m.core->started() != 0) violation("a node of another program gets a task");
  while (calm_ && !open_.empty() && report_.violation.empty()) {
    const auto late =
        std::find_if(open_.begin(), open_.end(), [&](const auto& o) { return o.second.by < now_; });
    if (late == open_.end()) break;
    violation("a request is not answered");
  }
}

/// A task that nobody waits for is ended some time later: its owner is gone, or has given it again,
/// or has cancelled it.
void world::check_held(unsigned node) {
  const machine& m = *machines_[node];
  const net::settings& s = how_.protocol;
  const bool sure = how_.loss == 0 && !parted_once_ && how_.between(0, 1).megabits == 0;
  const instant beats = 5 * s.heartbeat_every + 8 * how_.between(0, 1).latency;
  const instant enough = sure ? 2 * s.lost_after + beats : 15 * (s.lost_after + beats);
  const instant cancelled =
      sure ? 4 * how_.between(0, 1).latency + 2 * how_.jitter + instant(5'000) : enough;
  for (const auto& [id, t] : m.node->held()) {
    const machine& owner = *machines_[static_cast<unsigned>(t.owner)];
    const bool there = owner.alive && owner.process == t.key.owner;
    const auto given = there ? owner.node->given().find(t.key.key.task)
                             : std::map<std::uint64_t, net::given_task>::const_iterator{};
    const bool waits =
        there && given != owner.node->given().end() && given->second.attempt == t.key.key.attempt;
    if (waits) {
      stale_.erase({node, id});
      continue;
    }
    const instant since = stale_.emplace(std::pair(node, id), now_).first->second;
    if (now_ - since > (there ? cancelled : enough))
      violation(there ? "a task runs on that its owner does not wait for" : "an orphan runs on");
  }
}

}  // namespace sim
