#include "graph/placement.hpp"

#include <utility>

namespace cleave::detail {
namespace {

/// A few bits of what a subtask uses. (FNV-1a)
class check {
public:
  void add(std::uint32_t datum, access_mode mode) noexcept {
    mix(datum);
    mix(static_cast<std::uint32_t>(mode));
  }
  std::uint32_t value() const noexcept { return value_; }

private:
  void mix(std::uint32_t word) noexcept { value_ = (value_ ^ word) * 16777619u; }
  std::uint32_t value_ = 2166136261u;
};

}  // namespace

placement_plan::placement_plan(const recorded_graph& of, schedule s) : ranks_(std::move(s.ranks)) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    check c;
    for (const auto& u : of.uses_of(i)) c.add(u.datum, u.mode);
    checks_.push_back(c.value());
  }
}

placement_plan::placement_plan(byte_reader& r, unsigned nodes) {
  const std::size_t n = r.get_length();
  if (n > r.left() / (2 * sizeof(std::uint32_t))) r.fail("the ranks of subtasks");
  ranks_.resize(n), checks_.resize(n);
  r.get_all(ranks_.data(), n), r.get_all(checks_.data(), n);
  for (const std::uint32_t rank : ranks_)
    if (rank >= nodes) r.fail("a rank");
}

void placement_plan::put(byte_writer& w) const {
  w.put_length(ranks_.size());
  w.put_all(ranks_.data(), ranks_.size()), w.put_all(checks_.data(), checks_.size());
}

std::optional<unsigned> placement_plan::next(std::span<const datum_use> uses) {
  if (differs_at_ || next_ == ranks_.size()) return {};
  check c;
  for (const datum_use& u : uses) c.add(u.of->place.number, u.mode);
  if (checks_[next_] == c.value()) return ranks_[next_++];
  differs_at_ = next_;
  return {};
}

}  // namespace cleave::detail
