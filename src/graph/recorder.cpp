#include "graph/recorder.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

namespace cleave::detail {
namespace {

constexpr std::size_t most_transfers = 100'000;  // enough to know how fast messages are
// If no message was seen: those of a good network.
constexpr double usual_latency = 10, usual_per_byte = 1e-4;

template <class T, class Get>
double median(std::vector<T>& of, std::size_t first, std::size_t last, Get get) {
  std::vector<double> values;
  for (std::size_t i = first; i < last; ++i) values.push_back(get(of[i]));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

recorder::recorder(unsigned rank, unsigned nodes, unsigned workers) : rank_(rank) {
  graph_.nodes = nodes, graph_.workers = workers;
}

double recorder::now() noexcept {
  using microseconds = std::chrono::duration<double, std::micro>;
  return microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void recorder::place(std::uint64_t number, const char* name, std::span<const datum_use> uses,
                     std::span<const vertex_ref> after, std::optional<unsigned> asked,
                     unsigned ran_on) {
  const std::lock_guard lock(mutex_);
  const auto known = static_cast<std::uint32_t>(graph_.names.size());
  const auto [at, is_new] = names_.try_emplace(name != nullptr ? name : "subtask", known);
  if (is_new) graph_.names.push_back(at->first);
  for (const datum_use& u : uses) {
    const std::uint32_t datum = u.of->place.number;
    if (datum >= data_.size()) {
      data_.resize(datum + 1), writes_.resize(datum + 1), graph_.bytes.resize(datum + 1);
    }
    data_[datum] = u.of;
    graph_.uses.push_back({datum, u.mode});
  }
  for (const vertex_ref& v : after)
    if (const auto before = subtask_of(v.number)) graph_.after.push_back(*before);
  graph_.subtasks.push_back({at->second, asked.value_or(recorded_graph::any_rank), ran_on,
                             static_cast<std::uint32_t>(graph_.uses.size()),
                             static_cast<std::uint32_t>(graph_.after.size()), 0});
  numbers_.push_back(number);
}

/// With the mutex, or the owner.
std::optional<std::uint32_t> recorder::subtask_of(std::uint64_t number) const noexcept {
  const auto at = std::ranges::lower_bound(numbers_, number);
  if (at == numbers_.end() || *at != number) return {};
  return static_cast<std::uint32_t>(at - numbers_.begin());
}

void recorder::took(std::uint64_t number, double time) noexcept try {
  const std::lock_guard lock(mutex_);
  const auto subtask = subtask_of(number);
  if (!subtask) return;
  durations_.push_back({*subtask, time});
  measure_sizes(*subtask);
} catch (...) {}  // one that is not known

/// Of values that were written the first, second, fourth, eighth… time.
void recorder::measure_sizes(std::uint32_t subtask) {
  std::vector<std::byte> value;
  for (const auto& u : graph_.uses_of(subtask)) {
    if (u.mode == access_mode::in || !std::has_single_bit(++writes_[u.datum])) continue;
    value.clear();
    byte_writer w(value);
    data_[u.datum]->put(w);
    sizes_.push_back({u.datum, static_cast<double>(value.size())});
  }
}

void recorder::arrived(unsigned from, std::size_t bytes, double sent_at) noexcept try {
  const double time = now() - sent_at;
  const std::lock_guard lock(mutex_);
  if (transfers_.size() < most_transfers)
    transfers_.push_back({from, rank_, static_cast<double>(bytes), time});
} catch (...) {}

// ---- on the first node

void recorder::put_measured(byte_writer& w) {
  const std::lock_guard lock(mutex_);
  w.put_length(durations_.size());
  for (const auto& [subtask, time] : durations_) w.put(subtask), w.put(time);
  w.put_length(sizes_.size());
  for (const auto& [datum, bytes] : sizes_) w.put(datum), w.put(bytes);
  w.put_length(transfers_.size());
  for (const auto& t : transfers_) w.put(t.from), w.put(t.to), w.put(t.bytes), w.put(t.time);
  durations_.clear(), sizes_.clear(), transfers_.clear();
}

void recorder::add(byte_reader& r) {
  const std::lock_guard lock(mutex_);
  for (std::size_t n = r.get_length(); n > 0; --n) {
    duration d{};
    d.subtask = r.get<std::uint32_t>(), d.time = r.get<double>();
    durations_.push_back(d);
  }
  for (std::size_t n = r.get_length(); n > 0; --n) {
    size s{};
    s.datum = r.get<std::uint32_t>(), s.bytes = r.get<double>();
    sizes_.push_back(s);
  }
  for (std::size_t n = r.get_length(); n > 0; --n) {
    transfer t{};
    t.from = r.get<std::uint32_t>(), t.to = r.get<std::uint32_t>();
    t.bytes = r.get<double>(), t.time = r.get<double>();
    transfers_.push_back(t);
  }
}

const recorded_graph& recorder::result() {
  const std::lock_guard lock(mutex_);
  for (const auto& [subtask, time] : durations_)
    if (subtask < graph_.subtasks.size()) graph_.subtasks[subtask].duration = time;
  for (const auto& [datum, bytes] : sizes_)
    if (datum < graph_.bytes.size()) graph_.bytes[datum] = bytes;
  estimate_transfers();
  return graph_;
}

/// How long a message takes is not known of one, as clocks differ; but they differ the other way
/// for those that come back, and the fastest ones take equally long both ways.
void recorder::estimate_transfers() {
  graph_.latency = usual_latency, graph_.per_byte = usual_per_byte;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> least;
  for (const transfer& t : transfers_) {
    const auto [at, is_new] = least.try_emplace({t.from, t.to}, t.time);
    if (!is_new) at->second = std::min(at->second, t.time);
  }
  std::vector<transfer> known;
  for (transfer t : transfers_) {
    const auto back = least.find({t.to, t.from});
    if (back == least.end()) continue;
    t.time -= (least.at({t.from, t.to}) - back->second) / 2;
    known.push_back(t);
  }
  if (known.size() < 2) return;
  std::ranges::sort(known, {}, &transfer::bytes);
  const std::size_t middle = known.size() / 2;
  const auto bytes = [](const transfer& t) { return t.bytes; };
  const auto time = [](const transfer& t) { return t.time; };
  const double small = median(known, 0, middle, bytes),
               large = median(known, middle, known.size(), bytes);
  const double fast = median(known, 0, middle, time),
               slow = median(known, middle, known.size(), time);
  if (large > 2 * small && slow > fast) graph_.per_byte = (slow - fast) / (large - small);
  graph_.latency = std::max(0.0, fast - small * graph_.per_byte);
}

}  // namespace cleave::detail
