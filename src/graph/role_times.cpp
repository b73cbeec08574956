#include "graph/role_times.hpp"

#include <bit>
#include <cstddef>
#include <utility>

#include "graph/recorder.hpp"

namespace cleave::detail {

double role_times::now() noexcept { return recorder::now(); }

/// Measures how long values are in bytes when they are written the 1st, 2nd, 4th, 8th … time.
void role_times::measure_sizes(role& r) {
  const std::uint32_t runs = r.runs.load(std::memory_order_relaxed);
  if (r.has_new_data || !std::has_single_bit(runs)) return;
  std::vector<std::byte> value;
  for (const datum_use& u : r.uses) {
    if (u.mode == access_mode::in) continue;
    value.clear();
    byte_writer w(value);
    u.of->put(w);
    const std::lock_guard lock(mutex_);
    sizes_[u.of->place.number] = static_cast<double>(value.size());
  }
}

void role_times::put_report(byte_writer& w) {
  const std::uint32_t count = roles_.count();
  reported_.resize(count + 1);
  std::vector<std::uint32_t> ran;
  for (std::uint32_t number = 1; number <= count; ++number) {
    const std::uint32_t runs = roles_.at(number).runs.load(std::memory_order_relaxed);
    if (std::exchange(reported_[number], runs) != runs) ran.push_back(number);
  }
  w.put_length(ran.size());
  for (const std::uint32_t number : ran) {
    const role& r = roles_.at(number);
    w.put(number), w.put(r.time.load(std::memory_order_relaxed));
    w.put(r.interval.load(std::memory_order_relaxed));
  }
  const std::lock_guard lock(mutex_);
  w.put_length(sizes_.size());
  for (const auto& [datum, bytes] : sizes_) w.put(datum), w.put(bytes);
  sizes_.clear();
}

}  // namespace cleave::detail
