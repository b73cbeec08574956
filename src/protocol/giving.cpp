#include "protocol/giving.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

address giving::hint_for(address who_asks) const {
  const given_task* best = nullptr;
  for (const auto& [id, t] : tasks_) {
    if (t.to != who_asks && (best == nullptr || t.depth < best->depth)) best = &t;
  }
  return best == nullptr ? 0 : best->to + 1;
}

/// Which of the tasks that are away take too long for how nodes live.
void giving::judge(instant now) {
  if (!lives_are_short()) return;
  const instant at_most = lives_.mean() / all_.how.tasks_in_life;
  std::optional<std::uint64_t> deepest;
  for (auto& [id, t] : tasks_) {
    if (t.is_long || now - t.since <= at_most) continue;
    t.is_long = true;
    deepest = std::max(deepest, std::optional(t.depth));
  }
  if (deepest) least_depth_.took_long(*deepest);  // one step: those of its parts say nothing new
}

bool giving::stays(instant now, const traveller& t) {
  if (all_.self.self != 0 || !lives_are_short()) return false;
  judge(now);
  const bool too_large = t.depth < least_depth_.value();
  some_stayed_ = some_stayed_ || too_large;
  return too_large;
}

void giving::look_at_kept() {
  if (std::exchange(some_stayed_, false) && tasks_.empty()) least_depth_.kept_all();
}

bool giving::likely_lost(instant now, const given_task& t) const {
  if (!lives_are_short()) return false;
  const instant heard = peers_.at(t.to).heard;
  return heard < t.unanswered ||
         now - std::max(heard, t.since) > all_.how.silent_beats * all_.how.heartbeat_every;
}

void giving::give(instant now, address to, std::uint64_t request, const traveller& t,
                  std::uint64_t beat) {
  const std::uint64_t attempt = ++last_attempt_;
  tasks_[t.id] = {to, attempt, t.depth, t.losses, now, false, {}, beat, 0};
  peer& p = peers_[to];
  p.until.starves = p.until.nothing = {};
  p.state.busy = std::max(p.state.busy, 1U);
  p.state.depth = static_cast<std::uint32_t>(t.depth);
  peers_.send(to, task{request, {t.id, attempt}, t.type, t.depth, t.input, all_.core.shared()});
}

bool giving::is_with(address who, const task_key& key) const {
  const auto at = tasks_.find(key.task);
  return at != tasks_.end() && at->second.to == who && at->second.attempt == key.attempt;
}

void giving::on_result(instant now, address from, const task_result& m) {
  peers_.send(from, result_receipt{m.key});
  if (!is_with(from, m.key)) {
    if (all_.breaks(mutation::merge_twice) && m.how != ending::refused)
      all_.core.complete(m.key.task, {m.how, m.result});
    return;
  }
  const auto at = tasks_.find(m.key.task);
  if (m.how == ending::refused) return give_again(at);
  if (now - at->second.since <= lives_.mean() / all_.how.tasks_in_life)
    least_depth_.took_a_moment(at->second.depth);
  tasks_.erase(at);
  // First the bound, then what was computed under it: not without it.
  const bytes error = all_.core.merge(m.shared, true);
  const bool lost = m.how == ending::value && !error.empty();
  all_.core.complete(m.key.task, lost ? outcome{ending::error, error} : outcome{m.how, m.result});
}

void giving::on_heartbeat(address from, const heartbeat& m) {
  for (auto at = tasks_.begin(); at != tasks_.end();) {
    const auto current = at++;
    given_task& t = current->second;
    if (t.to != from) continue;
    const task_key key{current->first, t.attempt};
    const bool there = std::find(m.held.begin(), m.held.end(), key) != m.held.end();
    if (there) t.missing = 0;
    // A missing task counts only if the sender has heard from this node since the task was sent.
    // One heartbeat alone may be overtaken.
    else if (m.heard > t.beat) ++t.missing;
    if (t.missing >= 2 && !all_.breaks(mutation::ignore_missing)) give_again(current);
  }
  for (const task_key& key : m.held) {
    if (!is_with(from, key) && !all_.breaks(mutation::forget_cancel))
      peers_.send(from, net::cancel{key});
  }
}

bool giving::cancel(std::uint64_t id) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end()) return false;
  const address to = at->second.to;
  const task_key key{id, at->second.attempt};
  tasks_.erase(at);
  if (!all_.breaks(mutation::forget_cancel)) peers_.send(to, net::cancel{key});
  return true;
}

void giving::take_all_back(std::uint64_t id) {
  const auto at = tasks_.find(id);
  peers_.send(at->second.to, net::cancel{{id, at->second.attempt}});
  if (all_.breaks(mutation::keep_taken_back)) return all_.core.again(id, at->second.losses);
  give_again(at);
}

void giving::lost(address who) {
  for (auto at = tasks_.begin(); at != tasks_.end();) {
    const auto current = at++;
    if (current->second.to != who || all_.breaks(mutation::forget_lost_thief)) continue;
    ++current->second.losses;
    give_again(current);
  }
}

void giving::give_again(entry at) {
  const std::uint64_t id = at->first;
  const unsigned losses = at->second.losses;
  tasks_.erase(at);
  if (losses >= losses_to_stay && all_.breaks(mutation::forget_lost_twice)) return;
  all_.core.again(id, losses);
}

void giving::unanswered(std::uint64_t id, address by, instant sent) {
  const auto at = tasks_.find(id);
  if (at != tasks_.end() && at->second.to == by && peers_.at(by).heard < sent)
    at->second.unanswered = sent;
}

}  // namespace cleave::net
