#include "core/frame_list.hpp"

#include <algorithm>
#include <cassert>

namespace cleave::detail {
namespace {

/// reserve() takes what it is told, which makes growing by one each time quadratic.
template <class T>
void make_room(std::vector<T>& v, std::size_t n) {
  if (v.capacity() < n) v.reserve(std::max(n, 2 * v.capacity()));
}

}  // namespace

void frame_list::update(frame* innermost) {
  std::size_t fresh_frames = 0;
  frame* f = innermost;
  for (; f != nullptr && (f->tag & frame::seen) == 0; f = f->outer) ++fresh_frames;
  // A seen frame that is still linked tells by its index how much of the list still stands.
  const std::size_t standing = f == nullptr ? 0 : f->index + std::size_t{1};
  const std::size_t total = standing + fresh_frames;
  make_room(seen_, total);
  make_room(steps_, total);
  make_room(scopes_, scopes_.size() + fresh_frames);
  make_room(chains_, chains_.size() + fresh_frames);

  while (!steps_.empty() && steps_.back() >= standing) steps_.pop_back();
  while (!scopes_.empty() && scopes_.back() >= standing) scopes_.pop_back();
  while (!chains_.empty() && chains_.back() >= scopes_.size()) chains_.pop_back();
  const auto limit = static_cast<std::uint32_t>(standing);
  for (std::size_t k = 0; k < scopes_.size(); ++k)
    for (std::uint32_t& cursor : scope_at(k).cursors) cursor = std::min(cursor, limit);

  seen_.resize(total);
  f = innermost;
  for (std::size_t i = total; i-- > standing; f = f->outer) seen_[i] = f;
  for (std::size_t i = standing; i < total; ++i) {
    frame& g = *seen_[i];
    g.index = static_cast<std::uint32_t>(i);
    g.tag |= frame::seen;
    const frame_role role = g.type().role;
    // Every frame gets a number, so that the numbers never fall inward: steps and scopes are not
    // given.
    if (role != frame_role::work) g.unlisted = i == 0 ? 0 : seen_[i - 1]->unlisted;
    if (role == frame_role::step) steps_.push_back(g.index);
    if (role == frame_role::scope) {
      const scope* const above = scopes_.empty() ? nullptr : scope_at(scopes_.size() - 1).self;
      if (above == nullptr || !is_within(static_cast<scope_frame&>(g).self, above, above->depth))
        chains_.push_back(static_cast<std::uint32_t>(scopes_.size()));
      scopes_.push_back(g.index);
      for (std::uint32_t& cursor : static_cast<scope_frame&>(g).cursors) cursor = g.index + 1;
    }
  }
  searched += fresh_frames;
}

frame* frame_list::oldest(const scope* wanted, std::uint32_t depth, bool for_other_node,
                          bool& mine) {
  const std::size_t k = outermost_within(wanted, depth);
  mine = k < scopes_.size();
  return mine ? oldest_from(scope_at(k).cursors[for_other_node ? 1 : 0], for_other_node) : nullptr;
}

frame* frame_list::frame_of_innermost_scope(double place) {
  std::uint32_t& oldest = scope_at(scopes_.size() - 1).cursors[0];
  const auto left = static_cast<double>(seen_.size() - oldest);
  std::uint32_t at = oldest + static_cast<std::uint32_t>(place * left);
  frame* const further_in = at != oldest ? oldest_from(at, false) : nullptr;
  return further_in != nullptr ? further_in : oldest_from(oldest, false);
}

/// The scopes of a chain are each below the one before. If the last of a chain is within `wanted`,
/// so are all of it that are not less deep.
std::size_t frame_list::outermost_within(const scope* wanted, std::uint32_t depth) const {
  if (wanted == nullptr) return 0;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const std::size_t end = c + 1 < chains_.size() ? chains_[c + 1] : scopes_.size();
    if (!is_within(scope_at(end - 1).self, wanted, depth)) continue;
    std::size_t first = chains_[c], n = end - first;
    while (n > 0) {
      const std::size_t half = n / 2;
      if (scope_at(first + half).self->depth < depth) first += half + 1, n -= half + 1;
      else n = half;
    }
    return first;
  }
  return scopes_.size();
}

/// What has nothing left to give never will again, so the cursor only moves inward. What may not be
/// given now, because of steps that are on no list or because its turn has not come, is passed
/// over.
frame* frame_list::oldest_from(std::uint32_t& cursor, bool for_other_node) {
  const auto begin = seen_.begin() + cursor;
  const auto may = std::partition_point(begin, seen_.end(),
                                        [](const frame* f) { return f->unlisted < here.unlisted; });
  auto passed = static_cast<std::uint32_t>(may - seen_.begin());
  std::uint32_t* i = may == begin ? &cursor : &passed;
  for (; *i < seen_.size(); ++*i, ++searched) {
    frame& f = *seen_[*i];
    const frame_type& type = f.type();
    if (type.role != frame_role::work || (for_other_node && type.wire == nullptr)) continue;
    const division can = type.splittable(f);
    if (can == division::later && i == &cursor) passed = cursor, i = &passed;
    if (can != division::now) continue;
    assert(f.unlisted == here.unlisted);
    return f.unlisted == here.unlisted ? &f : nullptr;
  }
  return nullptr;
}

bool frame_list::leaves_further_in(const frame& f, unsigned least) const {
  const std::size_t begin = f.index + std::size_t{1}, end = std::min(seen_.size(), begin + 64);
  unsigned open = 0;
  for (std::size_t i = begin; i < end && open < least; ++i) {
    const frame_type& type = seen_[i]->type();
    open += type.role == frame_role::work && type.splittable(*seen_[i]) == division::now ? 1U : 0U;
  }
  return open >= least;
}

scope* frame_list::scope_of(const frame& f) const noexcept {
  const auto after = std::upper_bound(scopes_.begin(), scopes_.end(), f.index);
  if (after == scopes_.begin()) return nullptr;
  return static_cast<scope_frame*>(seen_[*(after - 1)])->self;
}

void frame_list::undo_to(const frame& f) noexcept {
  const std::size_t first = static_cast<std::size_t>(
      std::lower_bound(steps_.begin(), steps_.end(), f.index) - steps_.begin());
  for (std::size_t k = steps_.size(); k-- > first;) {
    frame& s = *seen_[steps_[k]];
    s.type().undo(s);
  }
  undone += steps_.size() - first;
}

void frame_list::redo_from(const frame& f) noexcept {
  const auto first = std::lower_bound(steps_.begin(), steps_.end(), f.index);
  for (auto k = first; k != steps_.end(); ++k) {
    frame& s = *seen_[*k];
    s.type().redo(s);
  }
}

}  // namespace cleave::detail
