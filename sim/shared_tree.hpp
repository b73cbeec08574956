#pragma once

#include <cleave/detail/task.hpp>

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/tree.hpp"

/// What the workers of one node have of a tree: stacks of loops over siblings, and the parts that
/// were split from them. It knows no time.
namespace sim {

inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// A loop over siblings: those from `next` to `end` are not begun.
struct open_loop {
  std::uint32_t next, end;
  std::uint32_t level;      ///< how deep it is in the tree
  std::uint32_t last_part;  ///< the part that was split from it last, or none
};

/// A range of siblings that was split from a loop:
///
///     handed --(its runner notices)--> running --> done --(joined)--> free
///     ready  --(its holder begins it)----^
///        ^--- a gift of several parts; handed and ready ones can be taken back
///
/// It is a scope, as tasks are: below the part that its loop belongs to.
struct part : cleave::detail::scope {
  enum class state : std::uint8_t { handed, ready, running, done };

  part() : scope(nullptr) {}
  std::uint32_t before = none;  ///< the part of the same loop that was split before
  std::uint32_t from = 0, to = 0, level = 0;
  std::uint32_t stack = none;   ///< the stack whose loop it is from
  std::uint32_t runner = none;  ///< the worker that has it
  state is = state::handed;
  std::int64_t at = 0;  ///< when it is noticed
};

/// A part that runs on a stack, on top of the join that another one waits in.
struct running_part {
  std::uint32_t which;
  std::uint32_t base;    ///< where its loops begin
  std::uint32_t cursor;  ///< loops before this one have nothing left
};

struct loop_stack {
  std::vector<open_loop> loops;  ///< the outermost first
  std::vector<running_part> parts;
  std::uint32_t awaits = none;  ///< the part that its innermost join waits for
  bool left = false;            ///< no worker has it: who finishes that part takes it up
};

class shared_tree {
public:
  explicit shared_tree(const tree& t) : tree_(t) {}

  std::uint32_t add_part(std::uint32_t parent, open_loop range, std::uint32_t stack);
  void free(std::uint32_t p) { free_.push_back(p); }
  part& operator[](std::uint32_t p) { return parts_[p]; }

  void begin(loop_stack& on, std::uint32_t p);
  /// Visits the next sibling of the innermost loop, which has one. Returns whether it has children,
  /// whose loop then is the innermost.
  bool visit(loop_stack& on);

  /// Whether p is `wanted` or was split from it or from parts of it; none: any part.
  bool is_within(std::uint32_t p, std::uint32_t wanted) const;

  struct found {
    bool mine = false;  ///< parts of what is wanted run on that stack
    std::uint32_t loop = none;
    unsigned searched = 0;  ///< loops that were looked at
  };
  /// The oldest loop of the stack that has something left, of `wanted` and what is below it.
  found oldest(loop_stack& on, std::uint32_t wanted) const;
  /// The oldest loop that has something left and is at that level or deeper.
  found oldest_from_level(const loop_stack& on, std::uint32_t level) const;
  /// Whether at least so many of the next 64 loops further in have something left.
  static bool leaves_further_in(const loop_stack& on, std::uint32_t loop, unsigned least);

  /// Splits off one share of so many; of one share, all that is not begun.
  std::uint32_t split(loop_stack& on, std::uint32_t on_number, std::uint32_t loop, unsigned shares);

private:
  const tree& tree_;
  std::deque<part> parts_;
  std::vector<std::uint32_t> free_;
};

}  // namespace sim
