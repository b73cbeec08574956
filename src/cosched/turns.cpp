#include "cosched/turns.hpp"

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <utility>

#include "cosched/clock.hpp"
#include "machine/futex.hpp"
#include "machine/on_cpu.hpp"
#include "machine/thread.hpp"

namespace cleave::cosched {
namespace {

constexpr unsigned everybody = turn_board::everybody;
constexpr nanoseconds millisecond = 1'000'000;

/// A rank says so often that its job is there.
constexpr nanoseconds told_each = 10 * millisecond;
/// A job alone looks so often whether another one has come; and others how often all call.
constexpr nanoseconds look_each = 20 * millisecond, look_again = 5 * millisecond;
/// Nobody else has wanted the CPUs for so long in a turn that is over.
constexpr nanoseconds unwanted_after = 50 * millisecond;
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

nanoseconds cpu_time() noexcept { return static_cast<nanoseconds>(machine::cpu_time()); }

/// Moves the calling thread there, and lets it go where it may. Linux leaves two ranks that wake
/// each other on one CPU for some milliseconds, and the other one idle.
void move_to(int cpu) noexcept {
  if (sched_getcpu() != cpu) machine::on_cpu there(cpu);
}

}  // namespace

/// While it lives, an interrupt does nothing.
class turns::uninterrupted {
public:
  explicit uninterrupted(turns& t) noexcept : busy_(t.busy_) { busy_ = 1; }
  ~uninterrupted() { busy_ = 0; }
  uninterrupted(const uninterrupted&) = delete;
  uninterrupted& operator=(const uninterrupted&) = delete;

private:
  volatile std::sig_atomic_t& busy_;
};

// ---- whether turns pay

nanoseconds turns::next_length() const noexcept {
  const bool good = board_->score.load(std::memory_order_relaxed) >= by_all(enough) ||
                    board_->passed.load(std::memory_order_relaxed) != 0;
  return good ? length_ : std::min(length_, short_length);
}

/// The ranks of all jobs may tell at once; then the last of two is as good.
void turns::judge(std::int64_t gain, nanoseconds at) noexcept {
  const std::int64_t counted = std::clamp(gain, -most_counted, most_counted);
  const std::int64_t score = board_->score.load(std::memory_order_relaxed) + counted;
  board_->score.store(std::min(score, by_all(enough)), std::memory_order_relaxed);
  if (score <= -by_all(credit)) end_all_turns(at);
}

/// A rank that calls seldom: whether it has slept in its turns.
void turns::judge_use(nanoseconds had, nanoseconds at) noexcept {
  had_ += had;
  if (had_ < length_) return;
  if (100 * std::exchange(slept_, 0) > most_slept * std::exchange(had_, 0)) end_all_turns(at);
}

void turns::end_all_turns(nanoseconds at) noexcept {
  const std::uint64_t word = board_->turn.load(std::memory_order_relaxed);
  if (turn_board::decoded(word).whose == everybody) return;
  // If turns have paid until now, something has changed: soon again.
  const bool paid = board_->passed.load(std::memory_order_relaxed) != 0;
  const unsigned failed = paid ? 0 : board_->failed.load(std::memory_order_relaxed) + 1;
  if (!board_->change(word, {everybody, at + fourfold(first_rest, failed)})) return;
  board_->failed.store(failed, std::memory_order_relaxed);
  board_->passed.store(0, std::memory_order_relaxed);
}

/// All run at once, until each has seen how it gets on so. False if they do, or somebody else was
/// first.
bool turns::look_without(nanoseconds at) noexcept {
  const std::uint64_t word = board_->turn.load(std::memory_order_relaxed);
  return turn_board::decoded(word).whose != everybody &&
         board_->change(word, {everybody, at + without_turns});
}

/// Turns have paid for a while: whether they still do is seen without them.
void turns::compare_again(nanoseconds at) noexcept {
  const unsigned passed = board_->passed.load(std::memory_order_relaxed);
  const nanoseconds began = board_->began.load(std::memory_order_relaxed);
  if (at - began < fourfold(first_check, passed)) return;
  if (board_->idle.load(std::memory_order_relaxed) < began) return;
  if (!look_without(at)) return;
  board_->passed.store(passed + 1, std::memory_order_relaxed);
  board_->failed.store(0, std::memory_order_relaxed);
}

// ---- a rank

bool turns::is_others() const noexcept {
  const unsigned now_is = board_->whose();
  return now_is != place_ && now_is != everybody;
}

/// Some call often, or did when this rank was found to call seldom.
bool turns::others_want_turns(nanoseconds at) const noexcept {
  const auto now_are = board_->who_is_there(at, place_);
  return now_are.jobs > 1 && (now_are.some_call_often || calls_seldom());
}

/// That the job is there, and how often it calls MPI.
void turns::tell(nanoseconds at) noexcept {
  if (at - told_ < told_each) return;
  turn_board::place& mine = board_->of[place_];
  mine.seen.store(told_ = at, std::memory_order_relaxed);
  if (!turns_are_on_) {
    calls_often_ = without_.apart() != 0 && at - last_ <= turn_board::not_often_after;
    if (calls_often_ || often_ == 0) often_ = at;
    if (calls_often_) mine.often.store(at, std::memory_order_relaxed);
    wants_interrupts_ = wants_all_calls() && others_want_turns(at);
    seldom_.store(wants_interrupts_ && at - often_ > turn_board::not_often_after,
                  std::memory_order_relaxed);
  }
  tell_seldom(at);
}

void turns::tell_seldom(nanoseconds at) noexcept {
  if (!calls_seldom()) return;
  turn_board::place& mine = board_->of[place_];
  mine.seen.store(at, std::memory_order_relaxed), mine.seldom.store(at, std::memory_order_relaxed);
}

/// Once for each wait of a turn.
void turns::in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (mine_ != word) {
    mine_ = word, began_ = at, calls_ = calls, given_up_ = 0;
    computed_before_ = cpu_time() - spun_;
    compare_again(at);
  }
  if (came_from_ < 0) came_from_ = sched_getcpu();
  move_to(cpu_);
  // Nobody has wanted it for long.
  if (at > turn_board::decoded(word).until + unwanted_after &&
      board_->who_is_there(at, place_).jobs == 1)
    board_->change(word, {everybody, at});
}

void turns::end_turn(nanoseconds at, std::int64_t calls) noexcept {
  const std::uint64_t word = std::exchange(mine_, 0);
  if (word == 0 || began_ < board_->began.load(std::memory_order_relaxed)) return;
  const nanoseconds end = given_up_ != 0 ? given_up_ : at;
  if (calls_seldom()) return judge_use(end - began_, at);
  // Nobody else has wanted the CPUs: they begin or end something.
  if (end > turn_board::decoded(word).until + recent_calls::longest_gap)
    return void(look_without(at));
  had_ += end - began_, made_ += calls - calls_;
  computed_ += cpu_time() - spun_ - computed_before_;
  if (had_ < least_judged) return;
  const nanoseconds had = std::exchange(had_, 0), apart = without_.apart();
  const std::int64_t made = std::exchange(made_, 0);
  if (100 * std::exchange(computed_, 0) >= enough_computed * had) {
    gaps_ = 0;
    return judge(most_counted, at);
  }
  if (++gaps_ >= turns_with_gaps) board_->idle.store(at, std::memory_order_relaxed);
  if (made * recent_calls::seldom < had) return judge(-most_counted, at);
  // How it is without turns is not known, as the rank has only begun to call often.
  if (apart == 0) return void(look_without(at));
  const nanoseconds stands_for = had * std::max(1u, board_->jobs.load(std::memory_order_relaxed));
  judge(100 * made * apart / stands_for - 100 + tolerated, at);
}

void turns::all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (std::exchange(turns_are_on_, false))
    without_.forget(), mine_ = 0, had_ = made_ = slept_ = computed_ = 0;
  // Imbalanced jobs fill each other's gaps best where Linux had put their ranks.
  if (came_from_ >= 0) move_to(std::exchange(came_from_, -1));
  without_.saw(at, calls);
  if (at < turn_board::decoded(word).until || calls_seldom()) return;
  const auto now_are = board_->who_is_there(at, place_);
  if (now_are.jobs == 1) {  // what was found with others says nothing about the next ones
    board_->failed.store(0, std::memory_order_relaxed);
    board_->passed.store(0, std::memory_order_relaxed);
    return void(board_->change(word, {everybody, at + look_each}));
  }
  if (!now_are.all_known || !now_are.some_call_often)
    return void(board_->change(word, {everybody, at + look_again}));
  board_->jobs.store(now_are.jobs, std::memory_order_relaxed);
  board_->seldom.store(now_are.some_call_seldom, std::memory_order_relaxed);
  // Before the turn is given: whose turn it is compares with that at once.
  board_->began.store(at, std::memory_order_relaxed);
  board_->score.store(0, std::memory_order_relaxed);
  board_->change(word, {place_, at + next_length()});
}

nanoseconds turns::after_wait(nanoseconds at, std::int64_t calls, nanoseconds spun) noexcept {
  spun_ = spun;
  const uninterrupted here(*this);
  tell(at);
  // For long not in MPI, nor in a wait that others' turns made longer: what was seen without turns
  // was of something else.
  const nanoseconds round = length_ * board_->jobs.load(std::memory_order_relaxed);
  if (!calls_seldom() && at - last_ > recent_calls::longest_gap + round) look_without(at);
  if (is_others()) at = stop(at, calls);
  const std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  const unsigned now_is = turn_board::decoded(word).whose;
  if (now_is == place_) in_turn(word, at, calls);
  else if (now_is == everybody) all_at_once(word, at, calls);
  if (now_is != everybody) turns_are_on_ = true;
  return last_ = at;
}

void turns::interrupted(std::int64_t calls) noexcept {
  if (busy_ != 0) return;
  const uninterrupted here(*this);
  if (!calls_seldom() || !is_others()) return;
  const nanoseconds at = stop(now(), calls);
  const std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  if (turn_board::decoded(word).whose == place_) in_turn(word, at, calls);
}

nanoseconds turns::stop(nanoseconds at, std::int64_t calls) noexcept {
  turns_are_on_ = true;
  stops_now_.store(true, std::memory_order_relaxed);
  end_turn(at, calls);
  const nanoseconds began = at;
  turn_board::place& mine = board_->of[place_];
  if (came_from_ < 0) came_from_ = sched_getcpu();
  const machine::on_cpu there(cpu_);  // Linux could wake both ranks of a job on one
  for (;;) {
    const std::uint32_t bell = board_->bell.load(std::memory_order_acquire);  // partner: change
    const std::uint64_t word = board_->turn.load(std::memory_order_acquire);
    const turn_board::turn_of now_is = turn_board::decoded(word);
    if (now_is.whose == place_ || now_is.whose == everybody) break;
    mine.paused.store(at, std::memory_order_relaxed);
    mine.seen.store(at, std::memory_order_relaxed);
    if (at < now_is.until && now_is.until - at < turn_board::longest_turn) {
      machine::block_shared(board_->bell, bell, std::chrono::nanoseconds(now_is.until - at));
    } else {
      board_->pass(word, everybody, at, next_length(), length_);  // or somebody else did
    }
    at = now();
  }
  mine.paused.store(0, std::memory_order_relaxed);
  stops_now_.store(false, std::memory_order_relaxed);
  ++stops_, stopped_ += at - began;
  return at;
}

bool turns::give_up() noexcept {
  const uninterrupted here(*this);
  const std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  if (turn_board::decoded(word).whose != place_) return true;
  const nanoseconds at = now();
  const nanoseconds had = at - board_->given.load(std::memory_order_relaxed);
  if (board_->seldom.load(std::memory_order_relaxed) && had < all_interrupted) return false;
  if (board_->pass(word, place_, at, next_length(), length_)) given_up_ = at, slept_ += patience;
  return true;
}

void turns::leave() noexcept {
  const uninterrupted here(*this);
  const std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  if (turn_board::decoded(word).whose != place_) return;
  const nanoseconds at = now();
  if (!board_->pass(word, place_, at, next_length(), length_))
    board_->change(word, {everybody, at});
}

}  // namespace cleave::cosched
