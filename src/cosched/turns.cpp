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

/// How often a rank says that its job is there.
constexpr nanoseconds told_each = 10 * millisecond;
/// How often a job alone looks whether another one has come; and how often jobs look how often all
/// call.
constexpr nanoseconds look_each = 20 * millisecond, look_again = 5 * millisecond;
/// If a turn has been over for this long, nobody else wants the CPUs.
constexpr nanoseconds unwanted_after = 50 * millisecond;
/// What a rank does in less time than this says nothing.
constexpr nanoseconds least_judged = 5 * millisecond;
/// Jobs run without turns for this long, to see how they get on so.
constexpr nanoseconds without_turns = 45 * millisecond;

/// The first time until turns are tried again, and the first until they are compared again. Each
/// next one is four times as long.
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

/// While an object of this class lives, an interrupt does nothing.
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
  const bool good = share_.board->score.load(std::memory_order_relaxed) >= by_all(enough) ||
                    share_.board->passed.load(std::memory_order_relaxed) != 0;
  return good ? share_.length : std::min(share_.length, short_length);
}

/// The ranks of all jobs may tell at once; then the last of two is as good.
void turns::judge(std::int64_t gain, nanoseconds at) noexcept {
  const std::int64_t counted = std::clamp(gain, -most_counted, most_counted);
  const std::int64_t score = share_.board->score.load(std::memory_order_relaxed) + counted;
  share_.board->score.store(std::min(score, by_all(enough)), std::memory_order_relaxed);
  if (score <= -by_all(credit)) end_all_turns(at);
}

/// Judges a rank that calls seldom by whether it has slept in its turns.
void turns::judge_use(nanoseconds had, nanoseconds at) noexcept {
  unjudged_.had += had;
  if (unjudged_.had < share_.length) return;
  if (100 * std::exchange(unjudged_.slept, 0) > most_slept * std::exchange(unjudged_.had, 0))
    end_all_turns(at);
}

void turns::end_all_turns(nanoseconds at) noexcept {
  const std::uint64_t word = share_.board->turn.load(std::memory_order_relaxed);
  if (turn_board::decoded(word).whose == everybody) return;
  // If turns have paid until now, something has changed: they are tried again soon.
  const bool paid = share_.board->passed.load(std::memory_order_relaxed) != 0;
  const unsigned failed = paid ? 0 : share_.board->failed.load(std::memory_order_relaxed) + 1;
  if (!share_.board->change(word, {everybody, at + fourfold(first_rest, failed)})) return;
  share_.board->failed.store(failed, std::memory_order_relaxed);
  share_.board->passed.store(0, std::memory_order_relaxed);
}

/// All run at once, until each has seen how it gets on so. False if they do already, or somebody
/// else was first.
bool turns::look_without(nanoseconds at) noexcept {
  const std::uint64_t word = share_.board->turn.load(std::memory_order_relaxed);
  return turn_board::decoded(word).whose != everybody &&
         share_.board->change(word, {everybody, at + without_turns});
}

/// Turns have paid for a while: whether they still do is seen without them.
void turns::compare_again(nanoseconds at) noexcept {
  const unsigned passed = share_.board->passed.load(std::memory_order_relaxed);
  const nanoseconds began = share_.board->began.load(std::memory_order_relaxed);
  if (at - began < fourfold(first_check, passed)) return;
  if (share_.board->idle.load(std::memory_order_relaxed) < began) return;
  if (!look_without(at)) return;
  share_.board->passed.store(passed + 1, std::memory_order_relaxed);
  share_.board->failed.store(0, std::memory_order_relaxed);
}

// ---- a rank

bool turns::is_others() const noexcept {
  const unsigned now_is = share_.board->whose();
  return now_is != share_.place && now_is != everybody;
}

/// Whether there are other jobs, and some call often, or did when this rank was found to call
/// seldom.
bool turns::others_want_turns(nanoseconds at) const noexcept {
  const auto now_are = share_.board->who_is_there(at, share_.place);
  return now_are.jobs > 1 && (now_are.some_call_often || calls_seldom());
}

/// Tells that the job is there, and how often it calls MPI.
void turns::tell(nanoseconds at) noexcept {
  if (at - told_ < told_each) return;
  turn_board::place& mine = share_.board->of[share_.place];
  mine.seen.store(told_ = at, std::memory_order_relaxed);
  if (!turn_.on) {
    calling_.often = without_.apart() != 0 && at - last_ <= turn_board::not_often_after;
    if (calling_.often || calling_.often_at == 0) calling_.often_at = at;
    if (calling_.often) mine.often.store(at, std::memory_order_relaxed);
    calling_.wants_interrupts = wants_all_calls() && others_want_turns(at);
    calling_.seldom.store(
        calling_.wants_interrupts && at - calling_.often_at > turn_board::not_often_after,
        std::memory_order_relaxed);
  }
  tell_seldom(at);
}

void turns::tell_seldom(nanoseconds at) noexcept {
  if (!calls_seldom()) return;
  turn_board::place& mine = share_.board->of[share_.place];
  mine.seen.store(at, std::memory_order_relaxed), mine.seldom.store(at, std::memory_order_relaxed);
}

/// Called once for each wait in the job's own turn.
void turns::in_turn(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (turn_.number != word) {
    turn_.number = word, turn_.began = at, turn_.calls_before = calls, turn_.given_up = 0;
    turn_.computed_before = cpu_time() - ever_.spun;
    compare_again(at);
  }
  if (came_from_ < 0) came_from_ = sched_getcpu();
  move_to(share_.cpu);
  // Nobody else has wanted the turn for long.
  if (at > turn_board::decoded(word).until + unwanted_after &&
      share_.board->who_is_there(at, share_.place).jobs == 1)
    share_.board->change(word, {everybody, at});
}

void turns::end_turn(nanoseconds at, std::int64_t calls) noexcept {
  const std::uint64_t word = std::exchange(turn_.number, 0);
  if (word == 0 || turn_.began < share_.board->began.load(std::memory_order_relaxed)) return;
  const nanoseconds end = turn_.given_up != 0 ? turn_.given_up : at;
  if (calls_seldom()) return judge_use(end - turn_.began, at);
  // Nobody else has wanted the CPUs: other jobs begin or end something.
  if (end > turn_board::decoded(word).until + recent_calls::longest_gap)
    return void(look_without(at));
  unjudged_.had += end - turn_.began, unjudged_.calls += calls - turn_.calls_before;
  unjudged_.computed += cpu_time() - ever_.spun - turn_.computed_before;
  if (unjudged_.had < least_judged) return;
  const nanoseconds had = std::exchange(unjudged_.had, 0), apart = without_.apart();
  const std::int64_t made = std::exchange(unjudged_.calls, 0);
  if (100 * std::exchange(unjudged_.computed, 0) >= enough_computed * had) {
    unjudged_.gaps = 0;
    return judge(most_counted, at);
  }
  if (++unjudged_.gaps >= turns_with_gaps) share_.board->idle.store(at, std::memory_order_relaxed);
  if (made * recent_calls::seldom < had) return judge(-most_counted, at);
  // How it is without turns is not known, as the rank has only begun to call often.
  if (apart == 0) return void(look_without(at));
  const nanoseconds stands_for =
      had * std::max(1u, share_.board->jobs.load(std::memory_order_relaxed));
  judge(100 * made * apart / stands_for - 100 + tolerated, at);
}

void turns::all_at_once(std::uint64_t word, nanoseconds at, std::int64_t calls) noexcept {
  if (std::exchange(turn_.on, false))
    without_.forget(), turn_.number = 0,
                       unjudged_.had = unjudged_.calls = unjudged_.slept = unjudged_.computed = 0;
  // Imbalanced jobs fill each other's gaps best where Linux had put their ranks.
  if (came_from_ >= 0) move_to(std::exchange(came_from_, -1));
  without_.saw(at, calls);
  if (at < turn_board::decoded(word).until || calls_seldom()) return;
  const auto now_are = share_.board->who_is_there(at, share_.place);
  if (now_are.jobs == 1) {  // what was found with others says nothing about the next ones
    share_.board->failed.store(0, std::memory_order_relaxed);
    share_.board->passed.store(0, std::memory_order_relaxed);
    return void(share_.board->change(word, {everybody, at + look_each}));
  }
  if (!now_are.all_known || !now_are.some_call_often)
    return void(share_.board->change(word, {everybody, at + look_again}));
  share_.board->jobs.store(now_are.jobs, std::memory_order_relaxed);
  share_.board->seldom.store(now_are.some_call_seldom, std::memory_order_relaxed);
  // The beginning is stored before the turn is given: the job whose turn it is compares with it at
  // once.
  share_.board->began.store(at, std::memory_order_relaxed);
  share_.board->score.store(0, std::memory_order_relaxed);
  share_.board->change(word, {share_.place, at + next_length()});
}

nanoseconds turns::after_wait(nanoseconds at, std::int64_t calls, nanoseconds spun) noexcept {
  ever_.spun = spun;
  const uninterrupted until_return(*this);
  tell(at);
  // The rank was not in MPI for long, nor in a wait that others' turns made longer: what was seen
  // without turns belongs to something else.
  const nanoseconds round = share_.length * share_.board->jobs.load(std::memory_order_relaxed);
  if (!calls_seldom() && at - last_ > recent_calls::longest_gap + round) look_without(at);
  if (is_others()) at = stop(at, calls);
  const std::uint64_t word = share_.board->turn.load(std::memory_order_acquire);  // partner: change
  const unsigned now_is = turn_board::decoded(word).whose;
  if (now_is == share_.place) in_turn(word, at, calls);
  else if (now_is == everybody) all_at_once(word, at, calls);
  if (now_is != everybody) turn_.on = true;
  return last_ = at;
}

void turns::interrupted(std::int64_t calls) noexcept {
  if (busy_ != 0) return;
  const uninterrupted until_return(*this);
  if (!calls_seldom() || !is_others()) return;
  const nanoseconds at = stop(now(), calls);
  const std::uint64_t word = share_.board->turn.load(std::memory_order_acquire);  // partner: change
  if (turn_board::decoded(word).whose == share_.place) in_turn(word, at, calls);
}

nanoseconds turns::stop(nanoseconds at, std::int64_t calls) noexcept {
  turn_.on = true;
  stops_now_.store(true, std::memory_order_relaxed);
  end_turn(at, calls);
  const nanoseconds began = at;
  turn_board::place& mine = share_.board->of[share_.place];
  if (came_from_ < 0) came_from_ = sched_getcpu();
  const machine::on_cpu there(share_.cpu);  // Linux could wake two ranks of a job on one CPU
  for (;;) {
    const std::uint32_t bell =
        share_.board->bell.load(std::memory_order_acquire);  // partner: change
    const std::uint64_t word = share_.board->turn.load(std::memory_order_acquire);
    const turn_board::turn_of now_is = turn_board::decoded(word);
    if (now_is.whose == share_.place || now_is.whose == everybody) break;
    mine.paused.store(at, std::memory_order_relaxed);
    mine.seen.store(at, std::memory_order_relaxed);
    if (at < now_is.until && now_is.until - at < turn_board::longest_turn) {
      machine::block_shared(share_.board->bell, bell, std::chrono::nanoseconds(now_is.until - at));
    } else {
      share_.board->pass(word, everybody, at, next_length(),
                         share_.length);  // if this fails, somebody else was first
    }
    at = now();
  }
  mine.paused.store(0, std::memory_order_relaxed);
  stops_now_.store(false, std::memory_order_relaxed);
  ++ever_.stops, ever_.stopped += at - began;
  return at;
}

bool turns::give_up() noexcept {
  const uninterrupted until_return(*this);
  const std::uint64_t word = share_.board->turn.load(std::memory_order_acquire);  // partner: change
  if (turn_board::decoded(word).whose != share_.place) return true;
  const nanoseconds at = now();
  const nanoseconds had = at - share_.board->given.load(std::memory_order_relaxed);
  if (share_.board->seldom.load(std::memory_order_relaxed) && had < all_interrupted) return false;
  if (share_.board->pass(word, share_.place, at, next_length(), share_.length))
    turn_.given_up = at, unjudged_.slept += patience;
  return true;
}

void turns::leave() noexcept {
  const uninterrupted until_return(*this);
  const std::uint64_t word = share_.board->turn.load(std::memory_order_acquire);  // partner: change
  if (turn_board::decoded(word).whose != share_.place) return;
  const nanoseconds at = now();
  if (!share_.board->pass(word, share_.place, at, next_length(), share_.length))
    share_.board->change(word, {everybody, at});
}

}  // namespace cleave::cosched
