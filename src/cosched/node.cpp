#include "cosched/node.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <utility>

namespace cleave::cosched {
namespace {

constexpr std::size_t board_bytes = (sizeof(board<platform>) + 127) / 128 * 128;
constexpr std::size_t slots_at = board_bytes + sizeof(told_at_first);

void* map(int file, std::size_t bytes) noexcept {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? nullptr : at;
}

std::string random_name() {
  unsigned long long number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) return {};
  char text[64];
  std::snprintf(text, sizeof text, "/cleave-cosched-%u-%016llx", static_cast<unsigned>(getuid()),
                number);
  return text;
}

}  // namespace

std::size_t node::bytes_for(unsigned ranks) noexcept { return slots_at + ranks * sizeof(slot); }

node::node(std::string name, unsigned ranks, void* memory, bool first) noexcept
    : name_(std::move(name)), ranks_(ranks), memory_(memory) {
  char* const at = static_cast<char*>(memory);
  if (first) {
    new (at) board<platform>(ranks);
    new (at + board_bytes) told_at_first;
    for (unsigned i = 0; i < ranks; ++i) new (at + slots_at + i * sizeof(slot)) slot;
  }
  sleepers_ = std::launder(reinterpret_cast<board<platform>*>(at));
  first_ = std::launder(reinterpret_cast<told_at_first*>(at + board_bytes));
  slots_ = std::launder(reinterpret_cast<slot*>(at + slots_at));
}

node::~node() { munmap(memory_, bytes_for(ranks_)); }

std::unique_ptr<node> node::make(unsigned ranks) {
  std::string name = random_name();
  if (name.empty()) return nullptr;
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  const std::size_t bytes = bytes_for(ranks);
  // Not ftruncate: a full /dev/shm would then kill the program when it touches the memory.
  void* const memory =
      posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0 ? map(file, bytes) : nullptr;
  close(file);
  if (memory == nullptr) {
    shm_unlink(name.c_str());
    return nullptr;
  }
  return std::unique_ptr<node>(new node(std::move(name), ranks, memory, true));
}

std::unique_ptr<node> node::open(const std::string& name, unsigned ranks) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return nullptr;
  void* const memory = map(file, bytes_for(ranks));
  close(file);
  if (memory == nullptr) return nullptr;
  return std::unique_ptr<node>(new node(name, ranks, memory, false));
}

void node::tell(const costs& c) noexcept {
  first_->what = c;
  first_->told.store(1, std::memory_order_release);  // partner: await_costs
  machine::wake_shared(first_->told);
}

costs node::await_costs() noexcept {
  while (first_->told.load(std::memory_order_acquire) == 0)  // partner: tell
    machine::block_shared(first_->told, 0, platform::longest_sleep);
  return first_->what;
}

void node::use_cpus() noexcept {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  for (unsigned i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &mine))
      first_->cpus[i / 64].fetch_or(std::uint64_t{1} << i % 64, std::memory_order_relaxed);
}

cpu_bits node::used_cpus() const noexcept {
  cpu_bits all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = first_->cpus[i].load(std::memory_order_relaxed);
  return all;
}

void node::forget_name() noexcept { shm_unlink(name_.c_str()); }

}  // namespace cleave::cosched
