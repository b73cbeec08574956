#include "node/stayed.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace cleave::net {
namespace {

// Times in microseconds.
constexpr std::uint64_t between_notes = 20'000;  // as often as a node asks in vain
constexpr std::uint64_t until_told = 200'000;
constexpr unsigned notes_until_told = 10;
constexpr std::uint64_t longest_gap = 1'000'000;  // notes further apart do not go on

std::uint64_t in_ticks(std::uint64_t us) noexcept { return us * detail::ticks_per_microsecond(); }

}  // namespace

/// Whether it is time for a note. Of several workers that have one, one makes it.
bool stayed_types::is_due(std::uint64_t tick) noexcept {
  std::uint64_t next = next_.load(std::memory_order_relaxed);
  return tick >= next && next_.compare_exchange_strong(next, tick + in_ticks(between_notes),
                                                       std::memory_order_relaxed);
}

/// Whether notes have gone on for so long that the user is to be told.
bool stayed_types::lasts(std::uint64_t tick) noexcept {
  const bool ended = left_.exchange(false, std::memory_order_relaxed);
  streak& s = lasting_;
  if (ended || s.notes == 0 || tick - s.last > in_ticks(longest_gap)) s = {tick, tick, 0};
  s.last = tick;
  return ++s.notes >= notes_until_told && tick - s.since >= in_ticks(until_told);
}

void stayed_types::note(const detail::staying_type& type, std::uint64_t tick) noexcept try {
  if (!is_due(tick)) return;
  const std::lock_guard lock(mutex_);
  auto known = std::find_if(noted_.begin(), noted_.end(),
                            [&](const entry& one) { return one.type == &type; });
  if (known == noted_.end()) known = noted_.insert(noted_.end(), {&type, 0, false});
  ++known->times;
  if (!lasts(tick) || known->told) return;
  known->told = true;
  std::fprintf(stderr,
               "cleave: other nodes ask for work and get none: the tasks here cannot leave this "
               "process: %s: %s (docs/limits.md#what-travels)\n",
               type.name().c_str(), type.reason().c_str());
} catch (const std::exception&) {  // out of memory: what is said is not worth an end
}

std::vector<stayed_task> stayed_types::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<stayed_task> all;
  for (const entry& one : noted_) all.push_back({one.type->name(), one.type->reason(), one.times});
  return all;
}

}  // namespace cleave::net
