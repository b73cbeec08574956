#include "trace/recorder.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>

namespace cleave::trace {

using detail::ticks;

recorder::recorder(std::size_t most, const std::atomic<std::uint64_t>& run_began)
    : most_(most), run_began_(run_began) {
  kept_.reserve(most_);
}

void recorder::begin(activity what, std::uint64_t made, std::uint32_t maker, std::uint32_t node,
                     const char* name) {
  std::lock_guard lock(mutex_);
  const std::uint64_t now = ticks();
  if (!open_.empty()) open_.back().inside += now - since_;
  open_.push_back({{now, 0, made, maker, node, what, false, name}});
  since_ = now;
}

void recorder::end(bool found) {
  std::lock_guard lock(mutex_);
  const std::uint64_t now = ticks();
  open_span ended = open_.back();
  open_.pop_back();
  ended.inside += now - since_;
  since_ = now;
  ended.of.end = now;
  ended.of.found = found;
  switch (ended.of.what) {
    case activity::task: spent_.work += ended.inside; break;
    case activity::divide: spent_.dividing += ended.inside; break;
    case activity::wait:
    case activity::join:
      if (found)
        spent_.stealing += std::min(ended.inside, now - run_began_.load(std::memory_order_relaxed));
  }
  keep(ended.of);
}

void recorder::keep(const span& s) {
  const std::uint64_t length = s.end - s.begin;
  if (length >= shortest_ && kept_.size() == most_ && most_ != 0) make_room();
  if (length >= shortest_ && kept_.size() < most_) {
    kept_.push_back(s);
  } else {
    ++left_out_;
  }
}

void recorder::make_room() {
  const auto length = [](const span& s) { return s.end - s.begin; };
  std::vector<std::uint64_t> lengths;
  for (const span& s : kept_) lengths.push_back(length(s));
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  shortest_ = *middle + 1;
  left_out_ += std::erase_if(kept_, [&](const span& s) { return length(s) < shortest_; });
}

recorder::totals recorder::spent() const {
  std::lock_guard lock(mutex_);
  return spent_;
}

recorder::snapshot recorder::spans() const {
  std::lock_guard lock(mutex_);
  snapshot all{kept_, left_out_, shortest_};
  const std::uint64_t now = ticks();
  for (const open_span& o : open_) {
    if (all.spans.size() == most_) break;
    all.spans.push_back(o.of);
    all.spans.back().end = now;
  }
  return all;
}

}  // namespace cleave::trace
