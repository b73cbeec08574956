#include "trace/session.hpp"

#include "machine/saved_file.hpp"
#include "trace/perfetto.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <stdexcept>

namespace cleave::trace {

using detail::ticks;

session::session(settings s, unsigned workers)
    : settings_(std::move(s)),
      first_tick_(ticks()),
      first_time_(clock::now()),
      run_began_(first_tick_),
      strands_(settings_.strands ? std::make_unique<strand_clock>() : nullptr) {
  std::size_t spans = 0;
  if (!settings_.file.empty()) machine::require_writable(settings_.file);
  if (!settings_.file.empty() || settings_.spans) {
    constexpr std::size_t least = 16;
    const std::size_t header = header_bytes(workers);
    spans =
        settings_.bytes > header ? (settings_.bytes - header) / workers / most_bytes_per_span : 0;
    if (spans < least)
      throw std::invalid_argument(settings_.file + ": expected room for a trace of at least " +
                                  std::to_string(header + least * workers * most_bytes_per_span) +
                                  " bytes, got " + std::to_string(settings_.bytes));
  }
  for (unsigned i = 0; i < workers; ++i)
    recorders_.push_back(std::make_unique<recorder>(spans, run_began_));
}

void session::begin_run() {
  std::lock_guard lock(mutex_);
  if (runs_++ != 0) return;
  began_ = clock::now();
  run_began_.store(ticks(), std::memory_order_relaxed);
}

void session::end_run() {
  std::lock_guard lock(mutex_);
  if (--runs_ == 0) elapsed_ += clock::now() - began_;
}

/// Measured since this began: how fast the ticks come is known to the kernel only.
double session::seconds_per_tick() const {
  const std::chrono::duration<double> passed = clock::now() - first_time_;
  return passed.count() / static_cast<double>(ticks() - first_tick_);
}

time_spent session::spent() const {
  time_spent all;
  const double unit = seconds_per_tick();
  {
    std::lock_guard lock(mutex_);
    all.elapsed = std::chrono::duration<double>(elapsed_).count();
  }
  for (const auto& r : recorders_) {
    const recorder::totals t = r->spent();
    all.work += static_cast<double>(t.work) * unit;
    all.dividing += static_cast<double>(t.dividing) * unit;
    all.stealing += static_cast<double>(t.stealing) * unit;
  }
  const double rest =
      static_cast<double>(recorders_.size()) * all.elapsed - all.work - all.dividing - all.stealing;
  all.idle = rest > 0 ? rest : 0;
  return all;
}

work_span session::profile() const {
  if (!strands_) return {};
  const double unit = seconds_per_tick();
  return {static_cast<double>(strands_->work()) * unit,
          static_cast<double>(strands_->position()) * unit};
}

node_trace session::recorded() const {
  using microseconds = std::chrono::duration<double, std::micro>;
  node_trace all;
  all.first_tick = first_tick_;
  all.first_us = microseconds(first_time_.time_since_epoch()).count();
  all.us_per_tick = seconds_per_tick() * 1e6;
  all.spent = spent();
  for (const auto& r : recorders_) all.workers.push_back(r->spans());
  return all;
}

void session::write(std::vector<node_trace> others) {
  if (settings_.file.empty()) return;
  std::vector<node_trace> nodes{recorded()};
  time_spent all = nodes.front().spent;
  for (node_trace& n : others) {
    all.work += n.spent.work, all.dividing += n.spent.dividing, all.stealing += n.spent.stealing;
    const double whole = static_cast<double>(n.workers.size()) * all.elapsed;
    all.idle += std::max(0.0, whole - n.spent.work - n.spent.dividing - n.spent.stealing);
    nodes.push_back(std::move(n));
  }
  tried_ = true;
  machine::saved_file out(settings_.file);
  write_json(out.stream(), std::move(nodes), all);
  out.keep();
}

}  // namespace cleave::trace
