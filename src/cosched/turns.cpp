#include "cosched/turns.hpp"

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <utility>

#include "cosched/clock.hpp"
#include "machine/futex.hpp"
#include "machine/on_cpu.hpp"

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
/// What ranks do in less than that says nothing.
constexpr nanoseconds least_judged = 5 * millisecond;
/// So long it is looked at how jobs get on without turns.
constexpr nanoseconds without_turns = 45 * millisecond;

/// Each time four times as long: until turns are tried again, and until they are compared again.
constexpr nanoseconds first_rest = 500 * millisecond, first_check = 500 * millisecond;
constexpr unsigned most_times = 3;
nanoseconds fourfold(nanoseconds first, unsigned times) noexcept {
  return first << 2 * std::min(times, most_times);
}

/// Moves the calling thread there, and lets it go where it may. Linux leaves two ranks that wake
/// each other on one CPU for some milliseconds, and the other one idle.
void move_to(int cpu) noexcept {
  if (sched_getcpu() != cpu) machine::on_cpu there(cpu);
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

turns::present turns::who_is_there(nanoseconds at) const noexcept {
  present now_are;
  for (unsigned k = 1; k < turn_board::places; ++k) {
    const turn_board::place& p = board_->of[k];
    if (k != place_ && at - p.seen.load(std::memory_order_relaxed) >= gone_after) continue;
    ++now_are.jobs;
    if (at - p.often.load(std::memory_order_relaxed) > not_often_after)
      now_are.all_call_often = false;
  }
  return now_are;
}

nanoseconds turns::next_length() const noexcept {
  const bool good = board_->score.load(std::memory_order_relaxed) >= enough ||
                    board_->passed.load(std::memory_order_relaxed) != 0;
  return good ? length_ : std::min(length_, short_length);
}

/// The ranks of all jobs may tell at once; then the last of two is as good.
void turns::judge(std::int64_t gain, nanoseconds at) noexcept {
  const std::int64_t counted = std::clamp(gain, -most_counted, most_counted);
  const std::int64_t score = board_->score.load(std::memory_order_relaxed) + counted;
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

/// All run at once, until each has seen how it gets on so. False if they do, or somebody else was
/// first.
bool turns::look_without(nanoseconds at) noexcept {
  const std::uint64_t word = board_->turn.load(std::memory_order_relaxed);
  return decoded(word).whose != everybody && change(word, {everybody, at + without_turns});
}

/// Turns have paid for a while: whether they still do is seen without them.
void turns::compare_again(nanoseconds at) noexcept {
  const unsigned passed = board_->passed.load(std::memory_order_relaxed);
  if (at - board_->began.load(std::memory_order_relaxed) < fourfold(first_check, passed)) return;
  if (!look_without(at)) return;
  board_->passed.store(passed + 1, std::memory_order_relaxed);
  board_->failed.store(0, std::memory_order_relaxed);
}

// ---- a rank

/// Once for each wait of a turn.
void turns::in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (mine_ != word) {
    mine_ = word, began_ = at, calls_ = calls, given_up_ = 0;
    compare_again(at);
  }
  if (came_from_ < 0) came_from_ = sched_getcpu();
  move_to(cpu_);
  // Nobody has wanted it for long.
  if (at > decoded(word).until + look_each && who_is_there(at).jobs == 1)
    change(word, {everybody, at});
}

void turns::end_turn(nanoseconds at, std::int64_t calls) noexcept {
  const std::uint64_t word = std::exchange(mine_, 0);
  if (word == 0 || began_ < board_->began.load(std::memory_order_relaxed)) return;
  const nanoseconds end = given_up_ != 0 ? given_up_ : at;
  // Nobody else has wanted the CPUs: they begin or end something.
  if (end > decoded(word).until + recent_calls::longest_gap) return void(look_without(at));
  had_ += end - began_, made_ += calls - calls_;
  if (had_ < least_judged) return;
  const nanoseconds had = std::exchange(had_, 0), apart = without_.apart();
  const std::int64_t made = std::exchange(made_, 0);
  if (made * recent_calls::seldom < had) return judge(-most_counted, at);
  // How it is without turns is not known, as the rank has only begun to call often.
  if (apart == 0) return void(look_without(at));
  const nanoseconds stands_for = had * std::max(1u, board_->jobs.load(std::memory_order_relaxed));
  judge(100 * made * apart / stands_for - 100 + tolerated, at);
}

void turns::all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (std::exchange(turns_are_on_, false)) without_.forget(), mine_ = 0, had_ = 0, made_ = 0;
  // Imbalanced jobs fill each other's gaps best where Linux had put their ranks.
  if (came_from_ >= 0) move_to(std::exchange(came_from_, -1));
  without_.saw(at, calls);
  if (at < decoded(word).until) return;
  const present now_are = who_is_there(at);
  if (now_are.jobs == 1) return void(change(word, {everybody, at + look_each}));
  if (!now_are.all_call_often) return void(change(word, {everybody, at + look_again}));
  board_->jobs.store(now_are.jobs, std::memory_order_relaxed);
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
  // For long not in MPI, nor in a wait that others' turns made longer: what was seen without turns
  // was of something else.
  const nanoseconds round = length_ * board_->jobs.load(std::memory_order_relaxed);
  if (at - last_ > recent_calls::longest_gap + round) look_without(at);
  if (is_others()) {
    turns_are_on_ = true;
    end_turn(at, calls);
    at = stop(at);
  }
  const std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  const unsigned now_is = decoded(word).whose;
  if (now_is != everybody) turns_are_on_ = true;
  if (now_is == place_) in_turn(word, at, calls);
  else if (now_is == everybody) all_at_once(word, at, calls);
  return last_ = at;
}

nanoseconds turns::stop(nanoseconds at) noexcept {
  const nanoseconds began = at;
  turn_board::place& mine = board_->of[place_];
  if (came_from_ < 0) came_from_ = sched_getcpu();
  const machine::on_cpu there(cpu_);  // Linux could wake both ranks of a job on one
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
  const nanoseconds at = now();
  if (pass(word, place_, at)) given_up_ = at;
}

}  // namespace cleave::cosched
