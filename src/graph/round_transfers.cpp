#include "graph/round_transfers.hpp"

#include <cleave/detail/travel/bytes.hpp>

#include <utility>

#include "graph/replay.hpp"
#include "graph/transfers.hpp"

namespace cleave::detail {
namespace {

/// Bytes: to copy what follows once more would take as long as a message of its own.
constexpr std::size_t longest_message = 1 << 14;

}  // namespace

// ---- what comes for one subtask

round_arrivals::place& round_arrivals::add(place* after) {
  place& made = all_.emplace_back();
  made.next = after != nullptr ? std::exchange(after->next, &made) : &made;
  return made;
}

distribution::arrived& round_arrivals::free_place() {
  // Acquire: the value that was taken before is not looked at any more. Partner: has_next().
  const std::size_t used = left_.load(std::memory_order_acquire) + 1;
  return (used == all_.size() ? add(put_) : *put_->next).value;
}

bool round_arrivals::has_come() noexcept {
  put_ = put_->next;
  ++count_;
  return left_.fetch_add(1, std::memory_order_acq_rel) == 0;  // partner: has_next()
}

bool round_arrivals::has_next() noexcept {
  return left_.fetch_sub(1, std::memory_order_acq_rel) > 1;  // partners: the other two
}

// ---- what goes to one node

round_letter::round_letter(distribution& by, unsigned to, std::atomic<std::size_t>& missing,
                           bool by_many)
    : by_(by),
      to_(to),
      by_many_(by_many),
      without_any_(by.node_.begin_letter()),
      begun_(without_any_.size()),
      missing_(missing) {
  const auto contents = by.begin(distribution::kind::values);
  without_any_.insert(without_any_.end(), contents.begin(), contents.end());
  byte_writer(without_any_).put<std::uint32_t>(by.rank());
  letter_ = without_any_;
}

void round_letter::add_to_group(std::size_t n) {
  if (groups_.size() <= n) groups_.resize(n + 1), awaited_.reserve(n + 1);
  ++groups_[n].size;
  ++transfers;
}

/// A value of that group was added.
void round_letter::count(group& g) noexcept {
  if (g.added == 0 && g.size > 1) {
    g.is_awaited = true;
    awaited_.push_back(&g);  // there is room for all
    missing_.fetch_add(g.size, std::memory_order_relaxed);
  }
  if (g.is_awaited) missing_.fetch_sub(1, std::memory_order_relaxed);
  if (++g.added < g.size) return;
  g.added = 0;
  if (std::exchange(g.is_awaited, false)) std::erase(awaited_, &g);
}

void round_letter::add(std::uint64_t place, const transferred& data, std::size_t n) {
  const auto locked = lock();
  const std::size_t before = letter_.size();
  try {
    byte_writer w(letter_);
    w.put(place);
    w.put_block([&] { data.put(w); });
  } catch (...) {
    letter_.resize(before);
    throw;
  }
  count(groups_[n]);
  has_any_.store(true, std::memory_order_relaxed);
  if (letter_.size() >= longest_message) send_now();
}

void round_letter::send() noexcept {
  // Relaxed: whoever adds something flushes after that.
  if (!has_any_.load(std::memory_order_relaxed)) return;
  const auto locked = lock();
  if (letter_.size() != without_any_.size()) send_now();
}

/// The letter leaves, at the latest with the team's next flush. Called with the lock.
void round_letter::send_now() {
  by_.node_.send_letter(to_, letter_, begun_);
  letter_ = without_any_;
  for (group* const g : awaited_) {
    missing_.fetch_sub(g->size - g->added, std::memory_order_relaxed);
    g->is_awaited = false;
  }
  awaited_.clear();
  has_any_.store(false, std::memory_order_relaxed);
}

// ---- all transfers of a round

round_transfers::round_transfers(distribution& by, replay& of, std::uint64_t rounds, bool by_many)
    : by_(by), of_(of), rounds_(rounds), receives_(by.size()), first_places_(by.size()) {
  for (unsigned to = 0; to < by.size(); ++to) letters_.emplace_back(by, to, missing_, by_many);
}

void round_transfers::flush() noexcept {
  if (!by_.begin_flush()) return;
  for (round_letter& l : letters_) l.send();
  by_.node_.flush();
}

distribution::arrived& round_transfers::free_place(unsigned from, std::uint64_t place) {
  const auto& all = receives_[from];
  const std::uint64_t k = place - first_places_[from];
  next_ = all[k % all.size()];
  if (next_->arrived->count() != k / all.size())
    throw malformed("a value of another round than the next one");
  return next_->arrived->free_place();
}

void round_transfers::has_come() noexcept {
  if (next_->arrived->has_come() && of_.count_off(*next_))
    next_->next = std::exchange(ready_, next_);
}

void round_transfers::make_ready() noexcept { of_.make_all_ready(std::exchange(ready_, nullptr)); }

// ---- the distribution

void distribution::begin_replay() {
  require_newest_at_homes();
  reset_to_homes();
  mine_.lengths.clear();
}

void distribution::enter_replay(round_transfers& all) {
  for (std::uint64_t round = 1; round < all.count(); ++round)
    for (const std::uint64_t n : mine_.lengths) made_.all.add(entry::mine), made_.all.add(n);
  const std::lock_guard lock(node_.mutex);
  for (unsigned rank = 0; rank < size(); ++rank) {
    between_.sent[rank] += all.later_sends(rank);
    lane& from = between_.from[rank];
    const std::uint64_t first = from.made();
    all.begin(rank, first);
    from.skip(all.receives(rank), [&](std::uint64_t k, arrived& a) {
      if (between_.released) return;
      all.free_place(rank, first + k) = std::move(a);
      all.has_come();
    });
  }
  if (between_.released) return all.of().abandon();
  between_.rounds = &all;
  all.make_ready();
}

void distribution::leave_replay() noexcept {
  const std::lock_guard lock(node_.mutex);
  between_.rounds = nullptr;
}

}  // namespace cleave::detail
