#include "cosched/turns.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include "cosched/clock.hpp"
#include "machine/futex.hpp"

namespace cleave::cosched {
namespace {

constexpr unsigned everybody = 0;
constexpr nanoseconds millisecond = 1'000'000;

/// A rank says so often that its job is there; one not seen for so long is thought to be gone.
constexpr nanoseconds told_each = 10 * millisecond, gone_after = 1'000 * millisecond;
/// No turn is longer: whose end is said to be later has been told by another clock.
constexpr nanoseconds longest_turn = 20'000 * millisecond;
/// A job alone looks so often whether another one has come.
constexpr nanoseconds look_each = 100 * millisecond;
/// So little of a turn says nothing about how it is used. When it begins, ranks of the last one
/// still compute.
constexpr nanoseconds least_judged = 6 * millisecond, not_measured = 3 * millisecond;
/// Who computes for longer between two calls, on average, finds little to gain in turns.
constexpr nanoseconds longest_grain = 5 * millisecond / 2;

/// What may be lost before all run at once again; what it takes to have long turns; and to forget
/// that they failed before.
constexpr nanoseconds credit = 3 * millisecond, long_from = 1 * millisecond,
                      most_score = 20 * millisecond;
/// Four times as long after each failure: a try leaves ranks where imbalanced jobs idle more.
constexpr nanoseconds first_rest = 500 * millisecond;
constexpr unsigned most_failures = 3;  // 32 s

nanoseconds cpu_time() noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * nanoseconds{1'000'000'000} + t.tv_nsec;
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

bool turns::is_mine() const noexcept {
  return decoded(board_->turn.load(std::memory_order_relaxed)).whose == place_;
}

bool turns::is_others() const noexcept {
  const unsigned whose = decoded(board_->turn.load(std::memory_order_relaxed)).whose;
  return whose != place_ && whose != everybody;
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

nanoseconds turns::next_length() const noexcept {
  const bool good = board_->score.load(std::memory_order_relaxed) >= long_from;
  return good ? length_ : std::min(length_, short_length);
}

/// `gain`: the time used in a turn, beyond what must be. The ranks of all jobs may tell at once;
/// then the last of two is as good.
void turns::judge(nanoseconds gain, nanoseconds at) noexcept {
  const nanoseconds score = board_->score.load(std::memory_order_relaxed) + gain;
  if (score > -credit) {
    board_->score.store(std::min(score, most_score), std::memory_order_relaxed);
    if (score >= most_score) board_->tries.store(0, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t word = board_->turn.load(std::memory_order_relaxed);
  if (decoded(word).whose == everybody) return;
  const unsigned failed = board_->tries.load(std::memory_order_relaxed);
  if (!change(word, {everybody, at + (first_rest << 2 * std::min(failed, most_failures))})) return;
  board_->tries.store(failed + 1, std::memory_order_relaxed);
  board_->score.store(0, std::memory_order_relaxed);
}

// ---- a rank

/// Once for each wait of a turn.
void turns::measure(std::uint64_t word, nanoseconds at, const so_far& done) noexcept {
  if (mine_ != word) {
    end(at, done);
    mine_ = word, began_ = at, since_ = 0, calls_ = done.calls;
  }
  if (came_from_ < 0) came_from_ = sched_getcpu();
  move_to(cpu_);
  if (since_ == 0 && at - began_ >= not_measured) since_ = at, used_ = cpu_time() - done.spun;
}

void turns::end(nanoseconds at, const so_far& done) noexcept {
  const turn had = decoded(std::exchange(mine_, 0));
  if (had.whose == everybody) return;
  const nanoseconds until = std::min(at, had.until);
  if (until - began_ < least_judged) return;
  if (since_ == 0 || (done.calls - calls_) * longest_grain < until - began_)
    return judge(-credit, at);
  const nanoseconds measured = until - since_;
  const nanoseconds computed = cpu_time() - done.spun - used_;
  judge(std::min(computed, measured) - used_from * measured / 100, at);
}

nanoseconds turns::after_wait(nanoseconds at, const so_far& done) noexcept {
  if (at - told_ >= told_each) board_->of[place_].seen.store(told_ = at, std::memory_order_relaxed);
  std::uint64_t word = board_->turn.load(std::memory_order_acquire);  // partner: change
  turn now_is = decoded(word);
  if (now_is.whose != place_ && now_is.whose != everybody) {
    end(at, done);
    at = stop(at);
    word = board_->turn.load(std::memory_order_acquire);
    now_is = decoded(word);
  }
  if (now_is.whose == place_) {
    measure(word, at, done);
    // Nobody has wanted it for long.
    if (at > now_is.until + look_each && is_alone(at)) change(word, {everybody, at});
  } else if (now_is.whose == everybody) {
    mine_ = 0;  // not judged: it ended early
    // Imbalanced jobs fill each other's gaps best where Linux had put their ranks.
    if (came_from_ >= 0) move_to(std::exchange(came_from_, -1));
    if (at >= now_is.until) {
      const bool alone = is_alone(at);
      change(word, alone ? turn{everybody, at + look_each} : turn{place_, at + next_length()});
    }
  }
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
  const nanoseconds at = now();
  if (decoded(word).whose != place_ || !pass(word, place_, at)) return;
  mine_ = 0;
  judge(-patience, at);
}

// ---- the memory

namespace {

/// A file that others cannot have made, and cannot open; -1 if there is none.
int open_own(const std::string& name, int flags) noexcept {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  struct stat s {};
  if (file >= 0 && fstat(file, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & 077) == 0)
    return file;
  if (file >= 0) close(file);
  return -1;
}

/// Not for long: who holds it may have been stopped.
bool lock(int file) noexcept {
  for (int i = 0; i < 100; ++i) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    usleep(1'000);
  }
  return false;
}

/// All zero, if it is new.
turn_board* map_board(int file) noexcept {
  if (posix_fallocate(file, 0, sizeof(turn_board)) != 0) return nullptr;
  void* const at = mmap(nullptr, sizeof(turn_board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<turn_board*>(at);
}

/// Some bytes of the file, whose numbers are those of places. Who has a place has locked its byte;
/// the kernel unlocks it, however that process ends.
struct flock bytes(unsigned first, unsigned n) noexcept {
  struct flock b {};
  b.l_type = F_WRLCK, b.l_whence = SEEK_SET, b.l_start = first, b.l_len = n;
  return b;
}

unsigned take_place(int file) noexcept {
  for (unsigned k = 1; k < turn_board::places; ++k)
    if (struct flock b = bytes(k, 1); fcntl(file, F_OFD_SETLK, &b) == 0) return k;
  return everybody;
}

bool others_have_places(int file) noexcept {
  struct flock b = bytes(1, turn_board::places - 1);
  return fcntl(file, F_OFD_GETLK, &b) != 0 || b.l_type != F_UNLCK;
}

}  // namespace

turn_place::turn_place(std::string name, turn_board* at, int file) noexcept
    : name_(std::move(name)), board_(at), file_(file) {}

std::unique_ptr<turn_place> turn_place::take(const std::string& name) {
  // Whoever has left last has closed the one with this name; then there is a new one.
  for (int tries = 0; tries < 10; ++tries) {
    const int file = open_own(name, O_CREAT);
    if (file < 0) return nullptr;
    const bool locked = lock(file);
    turn_board* const board = locked ? map_board(file) : nullptr;
    if (board == nullptr) return close(file), nullptr;
    std::unique_ptr<turn_place> p(new turn_place(name, board, file));
    if (board->closed.load(std::memory_order_relaxed) != 0) continue;
    p->number_ = take_place(file);
    if (p->number_ == everybody) return nullptr;
    p->taken_ = true;
    turn_board::place& mine = board->of[p->number_];
    mine.paused.store(0, std::memory_order_relaxed);
    mine.ended.store(0, std::memory_order_relaxed);
    mine.seen.store(now(), std::memory_order_relaxed);
    flock(file, LOCK_UN);
    return p;
  }
  return nullptr;
}

std::unique_ptr<turn_place> turn_place::open(const std::string& name, unsigned place) {
  const int file = open_own(name, 0);
  if (file < 0) return nullptr;
  turn_board* const board = map_board(file);
  if (board == nullptr) return close(file), nullptr;
  std::unique_ptr<turn_place> p(new turn_place(name, board, file));
  p->number_ = place;
  return p;
}

turn_place::~turn_place() {
  if (taken_) {
    const bool locked = lock(file_);
    board_->of[number_].seen.store(0, std::memory_order_relaxed);
    if (locked && !others_have_places(file_)) {
      board_->closed.store(1, std::memory_order_relaxed);
      shm_unlink(name_.c_str());
    }
  }
  munmap(board_, sizeof(turn_board));
  close(file_);  // and so its locks
}

}  // namespace cleave::cosched
