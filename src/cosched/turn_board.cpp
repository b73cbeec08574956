#include "cosched/turn_board.hpp"

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
  return turn_board::everybody;
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
    if (p->number_ == turn_board::everybody) return nullptr;
    p->taken_ = true;
    turn_board::place& mine = board->of[p->number_];
    mine.often.store(0, std::memory_order_relaxed);
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
