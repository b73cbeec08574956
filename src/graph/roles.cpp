#include "graph/roles.hpp"

#include <algorithm>

namespace cleave::detail {
namespace {

/// Mixes a word into a hash.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

/// Moves an average a quarter of the way to a new value.
void average(std::atomic<float>& of, double value) noexcept {
  const float known = of.load(std::memory_order_relaxed), now = static_cast<float>(value);
  const float at_most = std::min(now, 4 * known);
  of.store(known == 0 ? now : known + (at_most - known) / 4, std::memory_order_relaxed);
}

}  // namespace

bool role::begins() noexcept {
  constexpr float is_short = 5;
  constexpr std::uint32_t of = 8;
  const std::uint32_t n = runs.fetch_add(1, std::memory_order_relaxed);
  const float usual = time.load(std::memory_order_relaxed);
  return usual == 0 || usual > is_short || n % of == 0;
}

void role::ran(double from, double to) noexcept {
  // Relaxed: each value says something by itself, and a subtask that is lost changes little.
  const std::uint32_t n = runs.load(std::memory_order_relaxed);
  const std::uint32_t more = n - measured_runs.exchange(n, std::memory_order_relaxed);
  const double before = ended.exchange(to, std::memory_order_relaxed);
  const double each = (to - before) / std::max(more, 1u);
  if (before != 0) average(interval, each);
  average(time, to - from);
}

std::uint64_t roles::signature_of(std::span<const datum_use> uses, std::optional<unsigned> asked) {
  const datum_use* const decides = deciding(uses);
  // Mixed, as what follows is a small number, too: on(1) of datum 0 is not datum 2.
  std::uint64_t hash = mixed(0, asked ? *asked + 1 : 0);
  new_data_ = false, new_decides_ = decides == nullptr;
  for (const datum_use& u : uses) {
    const std::uint32_t datum = u.of->place.number;
    if (datum >= used_.size()) used_.resize(std::max<std::size_t>(datum + 1, 2 * used_.size()));
    // Each step may make data of its own, for what it has found.
    const bool is_new = !used_[datum];
    if (is_new) new_data_ = true, new_decides_ = new_decides_ || &u == decides;
    hash = mixed(hash, is_new ? ~std::uint64_t{0} : datum);
    hash = mixed(hash, static_cast<std::uint64_t>(u.mode));
  }
  for (const datum_use& u : uses) used_[u.of->place.number] = true;
  return hash;
}

std::uint32_t roles::add(std::uint64_t signature, std::span<const datum_use> uses, bool asked) {
  const std::uint32_t number = count_.load(std::memory_order_relaxed) + 1;
  const std::size_t in = number / of_chunk;
  if (in == most_chunks) return none;
  if (chunks_[in] == nullptr) chunks_[in] = std::make_unique<chunk>();
  role& r = at(number);
  r.signature = signature;
  r.uses.assign(uses.begin(), uses.end());
  r.has_new_data = new_data_;
  r.stays = asked || new_decides_;
  numbers_.emplace(signature, number);
  count_.store(number, std::memory_order_release);
  return number;
}

std::uint32_t roles::next(std::span<const datum_use> uses, std::optional<unsigned> asked) {
  const std::uint64_t signature = signature_of(uses, asked);
  std::uint32_t number = last_ != none ? at(last_).next : none;
  if (number == none || at(number).signature != signature) {
    const auto known = numbers_.find(signature);
    number = known != numbers_.end() ? known->second : add(signature, uses, asked.has_value());
    if (last_ != none) at(last_).next = number;
  }
  began_step_ = number != none && at(number).step == step_;
  if (began_step_) ++step_;
  if (number != none) at(number).step = step_;
  return last_ = number;
}

}  // namespace cleave::detail
