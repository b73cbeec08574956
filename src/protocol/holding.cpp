#include "protocol/holding.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

bool holding::is_asked() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const request_slot& s) { return s.is != request_slot::state::free; });
}

instant holding::next() const {
  instant at = instant::max();
  for (const request_slot& s : slots_) {
    if (s.is == request_slot::state::asked) at = std::min(at, s.until);
  }
  for (const auto& [id, t] : tasks_) {
    if (t.is == held_task::state::ended) at = std::min(at, t.resend_at);
  }
  return at;
}

// ---- requests of others

/// What may be split for a request: 0 for anything, a task; nothing: none.
std::optional<std::uint64_t> holding::split_for(address from, const task_request& m) const {
  if (m.wanted.task == 0) {
    if (all_.core.state().busy == 0) return std::nullopt;
    return 0;
  }
  const std::uint64_t id = tasks_.id_of({peers_.at(from).process, m.wanted});
  if (id == 0) return std::nullopt;
  // The task's result is on its way: the asker will need nothing. Other requests are not held up by
  // that.
  const bool ended = tasks_.find(id)->is == held_task::state::ended;
  if (ended && !all_.breaks(mutation::takeback_of_finished)) return std::nullopt;
  return all_.breaks(mutation::split_outside) ? 0 : id;
}

void holding::on_request(instant now, address from, const task_request& m) {
  peer& p = peers_[from];
  if (!p.requests.first(m.request) && !all_.breaks(mutation::answer_twice)) return;
  if (m.wanted.task == 0) p.until.starves = now + all_.how.idle_for;
  const auto wanted = split_for(from, m);
  unsigned slot = 0;
  while (slot < slot_count && slots_[slot].is != request_slot::state::free) ++slot;
  if (!wanted || slot == slot_count)
    return peers_.send(from, none{m.request, given_.hint_for(from)});
  slots_[slot].open(from, m.request, *wanted == 0, now + all_.how.none_after);
  all_.core.ask(slot, *wanted);
}

request_slot holding::take(unsigned slot) {
  const request_slot was = slots_[slot];
  slots_[slot].end();
  return was;
}

void holding::ask_again(instant now, unsigned slot) {
  slots_[slot].until = now + all_.how.none_after;
  all_.core.ask(slot, 0);
}

void holding::end_slots(instant now) {
  for (unsigned i = 0; i < slot_count; ++i) {
    request_slot& s = slots_[i];
    if (s.is != request_slot::state::asked || s.until > now) continue;
    if (!all_.core.withdraw(i)) {
      s.close();
      continue;
    }
    if (!all_.breaks(mutation::silent_none))
      peers_.send(s.from, none{s.request, given_.hint_for(s.from)});
    s.end();
  }
}

// ---- tasks of others

bool holding::is_new(address from, const task_key& key) {
  const full_key full{peers_[from].process, key};
  return tasks_.id_of(full) == 0 && !tasks_.was_here(full);
}

std::uint64_t holding::add(address from, const task_key& key) {
  return tasks_.add({from, {peers_[from].process, key}, held_task::state::running, {}, {}, {}, {}});
}

void holding::refuse(instant now, std::uint64_t id) {
  held_task& t = *tasks_.find(id);
  t.finish({ending::refused, {}});
  send_result(now, t);
}

bool holding::finish(instant now, std::uint64_t id, outcome end) {
  held_task* const t = tasks_.find(id);
  if (t == nullptr || t->is != held_task::state::running) return false;
  t->finish(std::move(end));
  if (!all_.breaks(mutation::result_without_shared)) t->shared = all_.core.shared();
  send_result(now, *t);
  return true;
}

void holding::send_result(instant now, held_task& t) {
  // A result that is sent again before it can be there only takes longer.
  const instant takes{static_cast<instant::rep>(t.end.result.size() / all_.how.slowest_link)};
  t.resend_after = t.resend_after == instant{}
                       ? all_.how.resend_after + takes
                       : std::min(2 * t.resend_after, all_.how.lost_after + takes);
  t.resend_at = now + t.resend_after;
  if (all_.breaks(mutation::send_result_once)) t.resend_at = instant::max();
  peers_.send(t.owner, task_result{t.key.key, t.end.how, t.end.result, t.shared});
}

void holding::resend(instant now) {
  for (auto& [id, t] : tasks_) {
    if (t.is == held_task::state::ended && t.resend_at <= now) send_result(now, t);
  }
}

void holding::on_receipt(address from, const result_receipt& m) {
  const std::uint64_t id = tasks_.id_of({peers_[from].process, m.key});
  if (id != 0 && tasks_.find(id)->is == held_task::state::ended) tasks_.erase(id);
}

void holding::on_cancel(address from, const cancel& m) {
  const std::uint64_t id = tasks_.id_of({peers_[from].process, m.key});
  if (id != 0) end(id);
}

/// Ends a task whose result nobody wants.
void holding::end(std::uint64_t id) {
  const bool runs = tasks_.find(id)->is == held_task::state::running;
  tasks_.erase(id);
  if (runs) all_.core.cancel(id);
}

void holding::lost(address who) {
  std::vector<std::uint64_t> orphans;
  for (const auto& [id, t] : tasks_) {
    if (t.owner == who) orphans.push_back(id);
  }
  if (!all_.breaks(mutation::keep_orphans)) {
    for (const std::uint64_t id : orphans) end(id);
  }
  for (unsigned i = 0; i < slot_count; ++i) {
    request_slot& s = slots_[i];
    if (s.is == request_slot::state::free || s.from != who) continue;
    s.orphan = true;
    if (s.is == request_slot::state::asked) all_.core.withdraw(i) ? s.end() : s.close();
  }
}

std::vector<task_key> holding::of(address owner) const {
  std::vector<task_key> keys;
  const incarnation process = peers_.at(owner).process;
  for (const auto& [id, t] : tasks_) {
    if (t.owner == owner && t.key.owner == process) keys.push_back(t.key.key);
  }
  return keys;
}

}  // namespace cleave::net
