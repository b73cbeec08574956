#include "node/other_nodes.hpp"

#include <cassert>
#include <utility>

namespace cleave::net {

using detail::native;

other_nodes::other_nodes(detail::pool& p, native::bell ring)
    : of_(p), own_(word_, cutoff_, ring), slots_(p.meeting, own_) {
  for (unsigned k = 0; k < native::most_slots; ++k) {
    boxes_.push_back(std::make_unique<slot>(word_, cutoff_, ring));
    p.meeting.boxes[detail::exchange<native>::first_slot + k] = &boxes_.back()->box;
  }
  p.meeting.other_nodes = &own_;
}

decltype(detail::pool::settings::others) other_nodes::maker(native::bell ring) {
  return [ring](detail::pool& p) { return std::make_unique<other_nodes>(p, ring); };
}

other_nodes::~other_nodes() {
  while (next_finished() != nullptr) {}
}

void other_nodes::ask(unsigned k, const detail::task* within) noexcept {
  slot& s = *boxes_[k];
  assert(!s.open);
  s.open = true, s.within = within;
  slots_.ask(k, within);
}

void other_nodes::insist() noexcept {
  for (unsigned k = 0; k < native::most_slots; ++k) {
    if (boxes_[k]->open && !slots_.has_answer(k)) return slots_.press(true);
  }
}

bool other_nodes::withdraw(unsigned k) noexcept {
  slot& s = *boxes_[k];
  assert(s.open);
  s.open = !slots_.withdraw(k, s.within);
  return !s.open;
}

bool other_nodes::next_given(gift& g) noexcept {
  for (unsigned k = 0; k < native::most_slots; ++k) {
    slot& s = *boxes_[k];
    if (!s.open || !slots_.has_answer(k)) continue;
    s.open = false;
    g = {k, reinterpret_cast<detail::task*>(slots_.collect(k))};
    if (g.given != nullptr) stayed_.something_leaves();
    return true;
  }
  return false;
}

const std::vector<other_nodes::starving>& other_nodes::look_for_starving() {
  starving_.clear();
  slots_.each_hungry([this](unsigned i, detail::request seen) {
    starving_.push_back({i, seen, detail::wanted_by(seen)});
  });
  return starving_;
}

bool other_nodes::feed(const starving& who, detail::task& t) noexcept {
  // The task's runner stays: the owner may be reading it, and cannot take it back from a worker
  // that asked.
  return slots_.feed(who.worker, who.seen, reinterpret_cast<detail::request>(&t));
}

std::unique_ptr<detail::task> other_nodes::next_finished() noexcept {
  std::lock_guard lock(finished_mutex_);
  if (finished_.empty()) return nullptr;
  std::unique_ptr<detail::task> t(finished_.back());
  finished_.pop_back();
  return t;
}

void other_nodes::finished_here(detail::task& t) noexcept {
  {
    std::lock_guard lock(finished_mutex_);
    finished_.push_back(&t);
  }
  own_.ring(detail::news);
}

void other_nodes::complete(detail::task& t) noexcept {
  detail::worker* const owner = t.owner;
  t.ticks = 0;  // nobody here knows the ticks
  t.ended();
  if (t.completed.end()) owner->box().ring(detail::news);
}

bool other_nodes::await(const std::function<bool()>& holds,
                        detail::message_watch& messages) noexcept {
  detail::worker* const caller = detail::here.self;
  return caller != nullptr && &caller->of == &of_ && caller->await(holds, messages);
}

void other_nodes::tell() noexcept {
  for (unsigned i = 0; i < of_.places(); ++i) of_.at(i).box().ring(detail::news);
}

void other_nodes::begin(detail::task& t, detail::team_node* team) noexcept {
  set_team(team);
  of_.begin_root(t);
}

void other_nodes::set_team(detail::team_node* team) noexcept {
  of_.team = team;
  stayed_.end();
}

unsigned other_nodes::workers() const noexcept { return of_.size(); }
unsigned other_nodes::computing() const noexcept { return of_.meeting.computing.count(); }

}  // namespace cleave::net
