#include "node/proxy.hpp"

#include <cassert>
#include <utility>

namespace cleave::net {

using detail::native;
using detail::task;

proxy::proxy(detail::pool& p, native::bell ring)
    : of_(p), own_(word_, cutoff_, ring), slots_(p.meeting, own_) {
  for (unsigned k = 0; k < native::most_slots; ++k) {
    boxes_.push_back(std::make_unique<slot>(word_, cutoff_, ring));
    p.meeting.boxes[detail::exchange<native>::first_slot + k] = &boxes_.back()->box;
  }
  p.meeting.outside = &own_;
}

decltype(detail::pool::plan::others) proxy::maker(native::bell ring) {
  return [ring](detail::pool& p) { return std::make_unique<proxy>(p, ring); };
}

proxy::~proxy() {
  while (next_finished() != nullptr) {}
}

void proxy::ask(unsigned k, const task* within) noexcept {
  slot& s = *boxes_[k];
  assert(!s.open);
  s.open = true, s.within = within;
  slots_.ask(k, within);
}

void proxy::insist() noexcept {
  for (unsigned k = 0; k < native::most_slots; ++k) {
    if (boxes_[k]->open && !slots_.has_answer(k)) return slots_.press(true);
  }
}

bool proxy::withdraw(unsigned k) noexcept {
  slot& s = *boxes_[k];
  assert(s.open);
  s.open = !slots_.withdraw(k, s.within);
  return !s.open;
}

bool proxy::next_given(gift& g) noexcept {
  for (unsigned k = 0; k < native::most_slots; ++k) {
    slot& s = *boxes_[k];
    if (!s.open || !slots_.has_answer(k)) continue;
    s.open = false;
    g = {k, reinterpret_cast<task*>(slots_.collect(k))};
    if (g.given != nullptr) stayed_.something_leaves();
    return true;
  }
  return false;
}

const std::vector<proxy::starving>& proxy::look_for_starving() {
  starving_.clear();
  slots_.each_hungry([this](unsigned i, detail::request seen) {
    starving_.push_back({i, seen, detail::wanted_by(seen)});
  });
  return starving_;
}

bool proxy::feed(const starving& who, task& t) noexcept {
  // The task's runner stays: the owner may be reading it, and cannot take it back from a worker
  // that asked.
  return slots_.feed(who.worker, who.seen, reinterpret_cast<detail::request>(&t));
}

std::unique_ptr<task> proxy::next_finished() noexcept {
  std::lock_guard lock(finished_mutex_);
  if (finished_.empty()) return nullptr;
  std::unique_ptr<task> t(finished_.back());
  finished_.pop_back();
  return t;
}

void proxy::finished_here(task& t) noexcept {
  {
    std::lock_guard lock(finished_mutex_);
    finished_.push_back(&t);
  }
  own_.ring(detail::news);
}

void proxy::complete(task& t) noexcept {
  detail::worker* const owner = t.owner;
  t.ticks = 0;                                                  // nobody here knows the ticks
  t.progress.store(task::finished, std::memory_order_release);  // acquired by done()
  owner->box().ring(detail::news);
}

bool proxy::await(const std::function<bool()>& holds, detail::message_watch& messages) noexcept {
  detail::worker* const caller = detail::here.self;
  return caller != nullptr && &caller->of == &of_ && caller->await(holds, messages);
}

void proxy::tell() noexcept {
  for (unsigned i = 0; i < of_.size(); ++i) of_.at(i).box().ring(detail::news);
}

void proxy::begin(detail::task& t, detail::team_node* team) noexcept {
  set_team(team);
  of_.begin_root(t);
}

void proxy::set_team(detail::team_node* team) noexcept {
  of_.team = team;
  stayed_.end();
}

unsigned proxy::workers() const noexcept { return of_.size(); }
unsigned proxy::computing() const noexcept { return of_.meeting.computing.count(); }

}  // namespace cleave::net
