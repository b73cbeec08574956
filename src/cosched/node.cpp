#include "cosched/node.hpp"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>
#include <cstdio>
#include <utility>

namespace cleave::cosched {
namespace {

constexpr std::size_t board_bytes = (sizeof(board<platform>) + 127) / 128 * 128;
constexpr std::size_t slots_at = board_bytes + sizeof(told_at_first);

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
    : name_(std::move(name)), memory_(std::move(memory)) {
  std::byte* const at = memory_.data();
  if (first) {
    new (at) board<platform>(ranks);
    new (at + board_bytes) told_at_first;
    for (unsigned i = 0; i < ranks; ++i) new (at + slots_at + i * sizeof(slot)) slot;
  }
  sleepers_ = std::launder(reinterpret_cast<board<platform>*>(at));
  first_ = std::launder(reinterpret_cast<told_at_first*>(at + board_bytes));
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

void node::forget_name() noexcept { machine::shared_memory::remove(name_); }

}  // namespace cleave::cosched
