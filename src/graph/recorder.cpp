#include "graph/recorder.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <utility>

namespace cleave::detail {
namespace {

constexpr std::size_t enough = 100'000;  // samples, to know how long messages take
// The costs that hold if no message was seen: those of a good network.
constexpr message_costs::cost usual_sending{2, 2e-4}, usual_transit{10, 1e-4},
    usual_receiving{2, 2e-4};

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

/// Called with the mutex, or by the owner.
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
} catch (...) {}  // a subtask that this recorder does not know

/// Measures values that were written the first, second, fourth, eighth… time.
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
  if (transfers_.size() < enough)
    transfers_.push_back({from, rank_, static_cast<double>(bytes), time});
} catch (...) {}

void recorder::sent(std::size_t bytes, double time) noexcept try {
  const std::lock_guard lock(mutex_);
  if (sent_.size() < enough) sent_.push_back({static_cast<double>(bytes), time});
} catch (...) {}

void recorder::received(std::size_t bytes, double time) noexcept try {
  const std::lock_guard lock(mutex_);
  if (received_.size() < enough) received_.push_back({static_cast<double>(bytes), time});
} catch (...) {}

void recorder::flushed(double time) noexcept {
  const std::lock_guard lock(mutex_);
  if (sent_.size() < enough) flushing_ += time;
}

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

bool recorder::is_whole() {
  const std::lock_guard lock(mutex_);
  return durations_.size() >= graph_.subtasks.size();
}

const recorded_graph& recorder::result() {
  const std::lock_guard lock(mutex_);
  for (const auto& [subtask, time] : durations_)
    if (subtask < graph_.subtasks.size()) graph_.subtasks[subtask].duration = time;
  for (const auto& [datum, bytes] : sizes_)
    if (datum < graph_.bytes.size()) graph_.bytes[datum] = bytes;
  auto& costs = graph_.messages;
  costs.sending = fitted(sent_, usual_sending);
  if (!sent_.empty()) costs.sending.fixed += flushing_ / static_cast<double>(sent_.size());
  costs.receiving = fitted(received_, usual_receiving);
  costs.transit = fitted(in_transit(), usual_transit);
  return graph_;
}

/// How long a message takes is not known of one, as clocks differ; but they differ the other way
/// for those that come back, and the fastest ones take equally long both ways.
std::vector<recorder::sample> recorder::in_transit() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> least;
  for (const transfer& t : transfers_) {
    const auto [at, is_new] = least.try_emplace({t.from, t.to}, t.time);
    if (!is_new) at->second = std::min(at->second, t.time);
  }
  std::vector<sample> known;
  for (const transfer& t : transfers_) {
    const auto back = least.find({t.to, t.from});
    if (back == least.end()) continue;
    known.push_back({t.bytes, t.time - (least.at({t.from, t.to}) - back->second) / 2});
  }
  return known;
}

/// Fits a line through the middle of the shorter half and that of the longer one: some are late for
/// reasons of their own.
message_costs::cost recorder::fitted(std::vector<sample> of, message_costs::cost otherwise) {
  if (of.size() < 2) return otherwise;
  std::ranges::sort(of, {}, &sample::bytes);
  const std::size_t half = of.size() / 2;
  const auto middle = [&of](std::size_t first, std::size_t last, double sample::*what) {
    std::vector<double> values;
    for (std::size_t i = first; i < last; ++i) values.push_back(of[i].*what);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  const double small = middle(0, half, &sample::bytes), fast = middle(0, half, &sample::time);
  const double large = middle(half, of.size(), &sample::bytes),
               slow = middle(half, of.size(), &sample::time);
  message_costs::cost c{0, otherwise.per_byte};
  if (large > 2 * small) c.per_byte = std::max(0.0, (slow - fast) / (large - small));
  c.fixed = std::max(0.0, fast - small * c.per_byte);
  return c;
}

}  // namespace cleave::detail
