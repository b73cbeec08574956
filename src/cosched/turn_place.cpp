#include "cosched/turn_place.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "cosched/clock.hpp"

namespace cleave::cosched {
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

/// Locks the file, but does not try for long: whoever holds it may have been stopped.
bool lock(int file) noexcept {
  for (int i = 0; i < 100; ++i) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    usleep(1'000);
  }
  return false;
}

/// Maps the board, which is all zero if the file is new.
machine::shared_memory map_board(int file) {
  if (posix_fallocate(file, 0, sizeof(turn_board)) != 0) return {};
  return machine::shared_memory::map(file, sizeof(turn_board));
}

/// Some bytes of the file, whose numbers are those of places. A job that has a place has locked its
/// byte; the kernel unlocks it, however its first rank and that one's children end.
struct flock bytes(unsigned first, unsigned n) noexcept {
  struct flock b {};
  b.l_type = F_WRLCK, b.l_whence = SEEK_SET, b.l_start = first, b.l_len = n;
  return b;
}

unsigned take_place(int file) noexcept {
  for (unsigned k = 1; k < turn_board::places; ++k)
    if (struct flock b = bytes(k, 1); fcntl(file, F_OFD_SETLK, &b) == 0) return k;
  return turn_board::everybody;
}

void give_back(int file, unsigned place) noexcept {
  struct flock b = bytes(place, 1);
  b.l_type = F_UNLCK;
  fcntl(file, F_OFD_SETLK, &b);
}

bool others_have_places(int file) noexcept {
  struct flock b = bytes(1, turn_board::places - 1);
  return fcntl(file, F_OFD_GETLK, &b) != 0 || b.l_type != F_UNLCK;
}

/// A job that was killed has left the board; what it has found says nothing about others.
void forget_turns(turn_board& board) noexcept {
  board.turn.store(0, std::memory_order_relaxed);
  board.failed.store(0, std::memory_order_relaxed);
  board.passed.store(0, std::memory_order_relaxed);
  board.score.store(0, std::memory_order_relaxed);
  board.idle.store(0, std::memory_order_relaxed);
}

}  // namespace

turn_place::turn_place(std::string name, machine::shared_memory memory, int file) noexcept
    : name_(std::move(name)), memory_(std::move(memory)), file_(file), made_by_(getpid()) {}

std::unique_ptr<turn_place> turn_place::take(const std::string& name) {
  // The job that has left last has closed the board of this name; then there is a new one.
  for (int tries = 0; tries < 10; ++tries) {
    const int file = open_own(name, O_CREAT);
    if (file < 0) return nullptr;
    const bool locked = lock(file);
    auto memory = locked ? map_board(file) : machine::shared_memory();
    if (!memory) return close(file), nullptr;
    std::unique_ptr<turn_place> p(new turn_place(name, std::move(memory), file));
    turn_board& board = p->board();
    if (board.closed.load(std::memory_order_relaxed) != 0) continue;
    p->number_ = take_place(file);
    if (p->number_ == turn_board::everybody) return nullptr;
    p->taken_ = true;
    if (!others_have_places(file)) forget_turns(board);
    turn_board::place& mine = board.of[p->number_];
    mine.often.store(0, std::memory_order_relaxed);
    mine.seldom.store(0, std::memory_order_relaxed);
    mine.paused.store(0, std::memory_order_relaxed);
    mine.ended.store(0, std::memory_order_relaxed);
    mine.deficit.store(0, std::memory_order_relaxed);
    mine.seen.store(now(), std::memory_order_relaxed);
    flock(file, LOCK_UN);
    return p;
  }
  return nullptr;
}

std::unique_ptr<turn_place> turn_place::open(const std::string& name, unsigned place) {
  const int file = open_own(name, 0);
  if (file < 0) return nullptr;
  auto memory = map_board(file);
  if (!memory) return close(file), nullptr;
  std::unique_ptr<turn_place> p(new turn_place(name, std::move(memory), file));
  p->number_ = place;
  return p;
}

bool turn_place::is_anothers(const std::string& name) {
  struct stat s {};
  return lstat(("/dev/shm" + name).c_str(), &s) == 0 && s.st_uid != geteuid();
}

turn_place::~turn_place() {
  if (made_by_ == getpid()) {  // a child of that process has a copy of this, and no place
    if (taken_) leave();
    // A child may have the same open file, and would keep the locks.
    flock(file_, LOCK_UN);
  }
  close(file_);
}

void turn_place::leave() noexcept {
  const bool locked = lock(file_);
  board().of[number_].seen.store(0, std::memory_order_relaxed);
  if (locked && !others_have_places(file_)) {
    // The name goes first: a closed board with a name would keep all from turns.
    shm_unlink(name_.c_str());
    board().closed.store(1, std::memory_order_relaxed);
  }
  give_back(file_, number_);
}

}  // namespace cleave::cosched
