#include "cosched/turns.hpp"

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <utility>

#include "cosched/clock.hpp"
#include "machine/futex.hpp"

namespace cleave::cosched {
namespace {

constexpr unsigned everybody = turn_board::everybody;
constexpr nanoseconds millisecond = 1'000'000;

/// A rank says so often that its job is there; one not seen for so long is thought to be gone.
constexpr nanoseconds told_each = 10 * millisecond, gone_after = 1'000 * millisecond;
/// No turn is longer: whose end is said to be later has been told by another clock.
constexpr nanoseconds longest_turn = 20'000 * millisecond;
/// A job alone looks so often whether another one has come; and others whether all call often.
constexpr nanoseconds look_each = 100 * millisecond, look_again = 20 * millisecond;
/// A job that called often so long ago does not any more.
constexpr nanoseconds not_often_after = 100 * millisecond;
/// So long it is looked at how jobs get on without turns.
constexpr nanoseconds without_turns = 60 * millisecond;

/// Each time four times as long: until turns are tried again, and until they are compared again.
constexpr nanoseconds first_rest = 500 * millisecond, first_check = 250 * millisecond;
constexpr unsigned most_times = 3;
nanoseconds fourfold(nanoseconds first, unsigned times) noexcept {
  return first << 2 * std::min(times, most_times);
}

/// Moves the calling thread there, and lets it go where it may. Linux leaves two ranks that wake
/// each other on one CPU for some milliseconds, and the other one idle.
void move_to(int cpu) noexcept {
  cpu_set_t may, there;
  if (cpu < 0 || sched_getcpu() == cpu || sched_getaffinity(0, sizeof may, &may) != 0) return;
  CPU_ZERO(&there);
  CPU_SET(static_cast<unsigned>(cpu), &there);
  if (sched_setaffinity(0, sizeof there, &there) == 0) sched_setaffinity(0, sizeof may, &may);
}

}  // namespace

// ---- the board

std::uint64_t turns::encoded(const turn& t) noexcept {
  return static_cast<std::uint64_t>(t.until / 1'000) << 8 | t.whose;
}
turns::turn turns::decoded(std::uint64_t word) noexcept {
  return {static_cast<unsigned>(word & 0xff), static_cast<nanoseconds>(word >> 8) * 1'000};
}

unsigned turns::whose() const noexcept {
  return decoded(board_->turn.load(std::memory_order_relaxed)).whose;
}

bool turns::is_others() const noexcept {
  const unsigned now_is = whose();
  return now_is != place_ && now_is != everybody;
}

bool turns::change(std::uint64_t from, const turn& to) noexcept {
  // Release: `ended` of the last one. Partner: the load in stop().
  if (!board_->turn.compare_exchange_strong(from, encoded(to), std::memory_order_acq_rel,
                                            std::memory_order_relaxed))
    return false;
  board_->bell.fetch_add(1, std::memory_order_release);  // after the turn; partner: stop()
  machine::wake_shared(board_->bell);
  return true;
}

bool turns::pass(std::uint64_t from, unsigned but, nanoseconds at) noexcept {
  const unsigned last = decoded(from).whose;
  unsigned next = everybody;
  nanoseconds longest_ago = at;
  for (unsigned k = 1; k < turn_board::places; ++k) {
    const turn_board::place& p = board_->of[k];
    const nanoseconds paused = p.paused.load(std::memory_order_relaxed);
    // Who stops says so at each turn. Who does not say it any more has been killed.
    if (k == but || paused == 0 || at - paused > 4 * length_) continue;
    const nanoseconds ended = p.ended.load(std::memory_order_relaxed);
    if (ended <= longest_ago) next = k, longest_ago = ended;
  }
  if (next == everybody) return false;
  board_->of[last].ended.store(at, std::memory_order_relaxed);
  return change(from, {next, at + next_length()});
}

bool turns::is_alone(nanoseconds at) const noexcept {
  for (unsigned k = 1; k < turn_board::places; ++k)
    if (k != place_ && at - board_->of[k].seen.load(std::memory_order_relaxed) < gone_after)
      return false;
  return true;
}

bool turns::all_call_often(nanoseconds at) const noexcept {
  for (unsigned k = 1; k < turn_board::places; ++k) {
    const turn_board::place& p = board_->of[k];
    const bool there = at - p.seen.load(std::memory_order_relaxed) < gone_after;
    if (there && at - p.often.load(std::memory_order_relaxed) > not_often_after) return false;
  }
  return true;
}

nanoseconds turns::next_length() const noexcept {
  const bool good = board_->score.load(std::memory_order_relaxed) >= enough ||
                    board_->passed.load(std::memory_order_relaxed) != 0;
  return good ? length_ : std::min(length_, short_length);
}

/// The ranks of all jobs may tell at once; then the last of two is as good.
void turns::judge(nanoseconds gain, nanoseconds at) noexcept {
  const nanoseconds counted = std::clamp(gain, -most_counted, most_counted);
  const nanoseconds score = board_->score.load(std::memory_order_relaxed) + counted;
  board_->score.store(std::min(score, enough), std::memory_order_relaxed);
  if (score > -credit) return;
  const std::uint64_t word = board_->turn.load(std::memory_order_relaxed);
  if (decoded(word).whose == everybody) return;
  // If turns have paid until now, something has changed: soon again.
  const bool paid = board_->passed.load(std::memory_order_relaxed) != 0;
  const unsigned failed = paid ? 0 : board_->failed.load(std::memory_order_relaxed) + 1;
  if (!change(word, {everybody, at + fourfold(first_rest, failed)})) return;
  board_->failed.store(failed, std::memory_order_relaxed);
  board_->passed.store(0, std::memory_order_relaxed);
}

/// Turns have paid for a while: whether they still do is seen without them.
void turns::compare_again(std::uint64_t word, nanoseconds at) noexcept {
  const unsigned passed = board_->passed.load(std::memory_order_relaxed);
  if (at - board_->began.load(std::memory_order_relaxed) < fourfold(first_check, passed)) return;
  if (!change(word, {everybody, at + without_turns})) return;
  board_->passed.store(passed + 1, std::memory_order_relaxed);
  board_->failed.store(0, std::memory_order_relaxed);
}

// ---- a rank

/// Once for each wait of a turn.
void turns::in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  turns_are_on_ = true;
  if (mine_ != word) {
    mine_ = word;
    const nanoseconds began = std::exchange(began_, at);
    const std::int64_t done = calls - std::exchange(calls_, calls);
    if (began > board_->began.load(std::memory_order_relaxed))
      judge(done * without_.apart() - (at - began), at);
    compare_again(word, at);
  }
  if (came_from_ < 0) came_from_ = sched_getcpu();
  move_to(cpu_);
  // Nobody has wanted it for long.
  if (at > decoded(word).until + look_each && is_alone(at)) change(word, {everybody, at});
}

void turns::all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (std::exchange(turns_are_on_, false)) without_.forget(), began_ = 0;
  // Imbalanced jobs fill each other's gaps best where Linux had put their ranks.
  if (came_from_ >= 0) move_to(std::exchange(came_from_, -1));
  without_.saw(at, calls);
  if (at < decoded(word).until) return;
  if (is_alone(at)) return void(change(word, {everybody, at + look_each}));
  if (!all_call_often(at)) return void(change(word, {everybody, at + look_again}));
  if (!change(word, {place_, at + next_length()})) return;
  board_->began.store(at, std::memory_order_relaxed);
  board_->score.store(0, std::memory_order_relaxed);
}

nanoseconds turns::after_wait(nanoseconds at, std::int64_t calls) noexcept {
  if (at - told_ >= told_each) {
    turn_board::place& mine = board_->of[place_];
    mine.seen.store(told_ = at, std::memory_order_relaxed);
    if (!turns_are_on_ && without_.apart() != 0) mine.often.store(at, std::memory_order_relaxed);
  }
  std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  if (is_others()) {
    turns_are_on_ = true;
    at = stop(at);
    word = board_->turn.load(std::memory_order_acquire);
  }
  const unsigned now_is = decoded(word).whose;
  if (now_is == place_) in_turn(word, at, calls);
  else if (now_is == everybody) all_at_once(word, at, calls);
  return at;
}

nanoseconds turns::stop(nanoseconds at) noexcept {
  const nanoseconds began = at;
  turn_board::place& mine = board_->of[place_];
  for (;;) {
    const std::uint32_t bell = board_->bell.load(std::memory_order_acquire);  // partner: change
    const std::uint64_t word = board_->turn.load(std::memory_order_acquire);
    const turn now_is = decoded(word);
    if (now_is.whose == place_ || now_is.whose == everybody) break;
    mine.paused.store(at, std::memory_order_relaxed);
    mine.seen.store(at, std::memory_order_relaxed);
    if (at < now_is.until && now_is.until - at < longest_turn) {
      machine::block_shared(board_->bell, bell, std::chrono::nanoseconds(now_is.until - at));
    } else {
      pass(word, everybody, at);  // or somebody else did
    }
    at = now();
  }
  mine.paused.store(0, std::memory_order_relaxed);
  ++stops_, stopped_ += at - began;
  return at;
}

void turns::give_up() noexcept {
  const std::uint64_t word = board_->turn.load(std::memory_order_acquire);
  if (decoded(word).whose != place_) return;
  // Where nobody else wants it, nothing is lost.
  if (!pass(word, place_, now())) began_ = 0;
}

}  // namespace cleave::cosched
