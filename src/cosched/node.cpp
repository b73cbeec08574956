#include "cosched/node.hpp"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>
#include <bit>
#include <cstdio>
#include <utility>

namespace cleave::cosched {
namespace {

constexpr std::size_t board_bytes = (sizeof(board<platform>) + 127) / 128 * 128;
constexpr std::size_t slots_at = board_bytes + sizeof(told_once);

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

node::node(std::string name, unsigned ranks, machine::shared_memory memory, bool first) noexcept
    : name_(std::move(name)), ranks_(ranks), memory_(std::move(memory)) {
  std::byte* const at = memory_.data();
  if (first) {
    new (at) board<platform>(ranks);
    new (at + board_bytes) told_once;
    for (unsigned i = 0; i < ranks; ++i) new (at + slots_at + i * sizeof(slot)) slot;
  }
  sleepers_ = std::launder(reinterpret_cast<board<platform>*>(at));
  told_ = std::launder(reinterpret_cast<told_once*>(at + board_bytes));
  slots_ = std::launder(reinterpret_cast<slot*>(at + slots_at));
}

std::unique_ptr<node> node::make(unsigned ranks) {
  std::string name = random_name();
  if (name.empty()) return nullptr;
  auto memory = machine::shared_memory::create(name, bytes_for(ranks));
  if (!memory) return nullptr;
  return std::unique_ptr<node>(new node(std::move(name), ranks, std::move(memory), true));
}

std::unique_ptr<node> node::open(const std::string& name, unsigned ranks) {
  auto memory = machine::shared_memory::open(name, bytes_for(ranks));
  if (!memory) return nullptr;
  return std::unique_ptr<node>(new node(name, ranks, std::move(memory), false));
}

bool node::waits_on(unsigned i, int cpu) noexcept {
  if (slots_[i].cpu.load(std::memory_order_relaxed) != cpu)
    slots_[i].cpu.store(cpu, std::memory_order_relaxed);
  for (unsigned k = 0; k < ranks_; ++k)
    if (slots_[k].cpu.load(std::memory_order_relaxed) != cpu) return false;
  return ranks_ > 1;
}

void node::tell(const costs& c) noexcept {
  told_->what = c;
  told_->told.store(1, std::memory_order_release);  // partner: await_costs
  machine::wake_shared(told_->told);
}

costs node::await_costs() noexcept {
  while (told_->told.load(std::memory_order_acquire) == 0)  // partner: tell
    machine::block_shared(told_->told, 0, platform::longest_sleep);
  return told_->what;
}

bool node::ends_last() noexcept {
  return told_->ended.fetch_add(1, std::memory_order_relaxed) + 1 == ranks_;
}

void node::use_cpus() noexcept {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  for (unsigned i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &mine))
      told_->cpus[i / 64].fetch_or(std::uint64_t{1} << i % 64, std::memory_order_relaxed);
}

cpu_bits node::used_cpus() const noexcept {
  cpu_bits all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = told_->cpus[i].load(std::memory_order_relaxed);
  return all;
}

unsigned node::cpus() const noexcept {
  unsigned n = 0;
  for (const std::uint64_t bits : used_cpus()) n += static_cast<unsigned>(std::popcount(bits));
  return n;
}

bool node::ranks_share_cpus() const noexcept {
  const unsigned n = cpus();
  return n != 0 && n < ranks_;  // 0: nobody has told
}

void node::forget_name() noexcept { machine::shared_memory::remove(name_); }

}  // namespace cleave::cosched
