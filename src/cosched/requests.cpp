#include "cosched/requests.hpp"

namespace cleave::cosched {

std::size_t requests::first_place(handle h) noexcept {
  return static_cast<std::size_t>((h * 0x9e3779b97f4a7c15u) >> 32) % capacity;
}

std::size_t requests::find(handle h) const noexcept {
  std::size_t at = first_place(h);
  while (entries_[at].is != kind::none && entries_[at].of != h) at = (at + 1) % capacity;
  return at;
}

void requests::started(handle h, kind k) noexcept {
  files_ = files_ || k == kind::file;
  if (lost_) return;
  entry& e = entries_[find(h)];
  if (e.is == kind::none && ++used_ == capacity) return lose_track();  // find() needs a free one
  if (may_send(e.is)) --others_;
  if (may_send(k)) ++others_;
  e = {h, k};
}

void requests::completed(handle h) noexcept {
  std::size_t hole = find(h);
  if (lost_ || entries_[hole].is == kind::none) return;
  if (may_send(entries_[hole].is)) --others_;
  --used_;
  // Entries behind the hole that would not be found past it move into it.
  for (std::size_t at = (hole + 1) % capacity; entries_[at].is != kind::none;
       at = (at + 1) % capacity) {
    const std::size_t first = first_place(entries_[at].of);
    if ((at - first) % capacity < (at - hole) % capacity) continue;
    entries_[hole] = entries_[at];
    hole = at;
  }
  entries_[hole] = {};
}

requests::kind requests::of(handle h) const noexcept {
  return lost_ ? kind::none : entries_[find(h)].is;
}

}  // namespace cleave::cosched
