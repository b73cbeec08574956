#include <algorithm>
#include <utility>

#include "sim/node_of_workers.hpp"

/// How workers ask, and what they give.
namespace sim {

void node_of_workers::find_work(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  if (!w.ready.empty()) {
    const std::uint32_t p = w.ready.back();  // the innermost, which is waited for first
    w.ready.pop_back();
    return begin(i, p, t);
  }
  w.is = thread::state::idle;
  w.rung_at = never;
  w.parked = false;
  w.waits_since = t;
  ask(i, none, none, t);
}

void node_of_workers::ask(std::uint32_t i, std::uint32_t wanted, std::uint32_t likely,
                          nanoseconds t) {
  thread& w = threads_[i];
  w.asks = true;
  w.wanted = wanted;
  if (how_.asks == victim::chain) {
    for (int hops = 0; hops < 8 && likely != none; ++hops, t += how_.costs.line) {
      const thread& v = threads_[likely];
      if (v.is != thread::state::joining || stack_of(v).awaits == none) break;
      const std::uint32_t next = shared_[stack_of(v).awaits].runner;
      if (next == i || next == likely) break;
      likely = next;
    }
  }
  if (likely == none || likely == i || threads_[likely].is == thread::state::idle)
    likely = any_other(i);
  if (likely != none) ring(likely, t + how_.costs.line);
  agenda_.set(i, t + how_.costs.all_after);
}

std::uint32_t node_of_workers::any_other(std::uint32_t i) {
  const auto n = static_cast<std::uint32_t>(threads_.size());
  const auto first = static_cast<std::uint32_t>(random_.below(n));
  std::uint32_t best = none;
  std::size_t most = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t j = (first + k) % n;
    if (j == i || threads_[j].is == thread::state::idle) continue;
    if (how_.asks != victim::largest) return j;
    const std::size_t loops = stack_of(threads_[j]).loops.size();
    if (loops > most) best = j, most = loops;
  }
  return best;
}

void node_of_workers::ring(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  w.rung_at = std::min(w.rung_at, t);
  if (w.is == thread::state::joining) agenda_.advance(i, t);
}

nanoseconds node_of_workers::serve(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  w.rung_at = never;
  w.parked = false;
  nanoseconds took = 0;
  bool given = false, nothing_now = false;
  const auto n = static_cast<std::uint32_t>(threads_.size());
  auto asking = static_cast<unsigned>(
      std::count_if(threads_.begin(), threads_.end(), [](const thread& o) { return o.asks; }));
  unsigned others = asking == 0 ? 0 : std::min(asking - 1, 15u);
  for (std::uint32_t k = 1; k < n; ++k) {
    const std::uint32_t asker = (i + k) % n;
    if (!threads_[asker].asks) continue;
    if (give_ready(i, asker, t, took)) {
      given = true;
      break;
    }
    const shared_tree::found f = find(w, threads_[asker].wanted);
    took += f.searched * how_.costs.search;
    if (!f.mine) continue;
    if (f.loop == none) {
      nothing_now = true;
      continue;
    }
    given = true;
    if (!give(i, asker, f.loop, others, t, took)) break;
  }
  if (given && anybody_asks()) w.rung_at = t + took;
  else w.parked = nothing_now;
  return took;
}

shared_tree::found node_of_workers::find(const thread& w, std::uint32_t wanted) {
  loop_stack& on = stacks_[w.stack];
  if (on.parts.empty()) return {};
  shared_tree::found f;
  if (wanted != none && how_.waits == meanwhile::deeper) {
    f = shared_.oldest_from_level(on, stacks_[shared_[wanted].stack].loops.back().level);
  } else if (wanted == none || how_.waits == meanwhile::leave ||
             shared_.is_within(on.parts.back().which, wanted)) {
    f = shared_.oldest(on, wanted);
  }
  const std::size_t least = wanted != none ? how_.further_in_for_waiting : how_.further_in;
  const bool computes = w.is == thread::state::computing;
  if (f.loop != none && computes && on.loops.size() - 1 - f.loop < least) f.loop = none;
  return f;
}

bool node_of_workers::give_ready(std::uint32_t i, std::uint32_t asker, nanoseconds t,
                                 nanoseconds& took) {
  auto& ready = threads_[i].ready;
  const auto p = std::find_if(ready.begin(), ready.end(), [&](std::uint32_t one) {
    return shared_.is_within(one, threads_[asker].wanted);
  });
  if (p == ready.end()) return false;
  took += how_.costs.answer / 2;
  hand(asker, *p, t + took);
  ready.erase(p);
  return true;
}

bool node_of_workers::give(std::uint32_t i, std::uint32_t asker, std::uint32_t loop,
                           unsigned& others, nanoseconds t, nanoseconds& took) {
  const std::uint32_t number = threads_[i].stack;
  loop_stack& on = stacks_[number];
  took += how_.costs.answer;
  if (how_.gives == gift::loops) {
    give_loops(i, asker, loop, t, took);
    return false;
  }
  const bool all =
      how_.gives == gift::rest && shared_tree::leaves_further_in(on, loop, how_.loops_left);
  if (how_.gives == gift::rest) others = 0;  // the next look is near, and serves them
  ++result_.parts;
  hand(asker, shared_.split(on, number, loop, all ? 1 : 2 + others), t + took);
  return others-- > 0 && on.loops[loop].next != on.loops[loop].end;
}

void node_of_workers::give_loops(std::uint32_t i, std::uint32_t asker, std::uint32_t first,
                                 nanoseconds t, nanoseconds& took) {
  const std::uint32_t number = threads_[i].stack;
  loop_stack& on = stacks_[number];
  std::vector<std::uint32_t> open;
  for (std::uint32_t l = first;
       l < on.loops.size() && open.size() < std::size_t{2} * how_.loops_at_once; ++l) {
    took += how_.costs.search;
    if (on.loops[l].next != on.loops[l].end) open.push_back(l);
  }
  const std::size_t given = std::max<std::size_t>(open.size() / 2, 1);
  const unsigned shares = open.size() > 1 ? 1 : 2;
  for (std::size_t k = 0; k < given; ++k) {
    const std::uint32_t p = shared_.split(on, number, open[k], shares);
    ++result_.parts;
    if (k != 0) took += how_.costs.answer / 2;
    if (k + 1 == given) return hand(asker, p, t + took);
    shared_[p].is = part::state::ready;
    shared_[p].runner = asker;
    threads_[asker].ready.push_back(p);
  }
}

void node_of_workers::hand(std::uint32_t asker, std::uint32_t p, nanoseconds t) {
  thread& w = threads_[asker];
  part& given = shared_[p];
  w.asks = false;
  w.given = p;
  given.is = part::state::handed;
  given.runner = asker;
  given.at = t + how_.costs.line;
  agenda_.set(asker, given.at);
}

}  // namespace sim
