#pragma once

#include <cleave/detail/task.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave::detail {

/// The frames on one worker's stack, as far as its slow path has seen them, from the outermost
/// inward. Each frame is walked over once after its push, so that finding the oldest with something
/// to give costs an amortised constant. Owner only.
class frame_list {
public:
  /// Takes in the frames pushed since, drops those popped. Throws std::bad_alloc.
  void update(frame* innermost);

  /// The oldest frame that may be given (see work_frame), has something to give, and belongs to
  /// `wanted`, which has that depth, or below (null: any); `for_other_node`: whose task may leave
  /// the process. Sets `mine` to whether there is such a scope on this stack.
  frame* oldest(const scope* wanted, std::uint32_t depth, bool for_other_node, bool& mine);

  /// A frame to give in the innermost scope on this stack, which there must be, however deep
  /// others nest: the first that is at least at `place`, from 0 to 1, of the way inward; the
  /// oldest if none is.
  frame* frame_of_innermost_scope(double place);

  /// The scope that a frame belongs to; null: the one of a thread that is no worker.
  scope* scope_of(const frame& f) const noexcept;

  /// Goes back to the moment when f was pushed: undoes the steps made since, innermost first.
  void undo_to(const frame& f) noexcept;
  void redo_from(const frame& f) noexcept;

  /// How many frames there are further in than f.
  std::size_t further_in(const frame& f) const noexcept { return seen_.size() - 1 - f.index; }
  /// Whether at least so many of the next 64 have something to give: a look at all may take long.
  bool leaves_further_in(const frame& f, unsigned least) const;

  std::size_t size() const noexcept { return seen_.size(); }
  std::uint64_t searched = 0;
  std::uint64_t undone = 0;

private:
  scope_frame& scope_at(std::size_t k) const noexcept {
    return *static_cast<scope_frame*>(seen_[scopes_[k]]);
  }
  frame* oldest_from(std::uint32_t& cursor, bool for_other_node);
  /// Which of scopes_ is the first within `wanted`; their number if none is.
  std::size_t outermost_within(const scope* wanted, std::uint32_t depth) const;

  std::vector<frame*> seen_;
  std::vector<std::uint32_t> steps_;   // where in seen_ the steps are
  std::vector<std::uint32_t> scopes_;  // where in seen_ the scopes are
  std::vector<std::uint32_t> chains_;  // scopes in scopes_ that are not below the one before
};

}  // namespace cleave::detail
