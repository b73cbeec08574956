#pragma once

#include <cstdint>

#include "protocol/core_port.hpp"

namespace cleave::net {

/// How long nodes live, by what one node has seen: the time for which it had tasks with others, all
/// of them together, by how many of them it lost meanwhile. Old losses count less.
class lifetimes {
public:
  /// `assumed` is added to the time: the first losses alone would say little.
  explicit lifetimes(instant assumed) : assumed_(assumed) {}

  /// Counts that `nodes` nodes, with which there were tasks, have lived on for `time`.
  void lived(std::size_t nodes, instant time) { seen_ += static_cast<std::int64_t>(nodes) * time; }

  void lost() {
    if (++losses_ <= remembered) return;
    losses_ /= 2;
    seen_ /= 2;
  }

  instant mean() const { return losses_ == 0 ? instant::max() : (assumed_ + seen_) / losses_; }

private:
  static constexpr std::int64_t remembered = 32;

  instant assumed_;
  instant seen_{};
  std::int64_t losses_ = 0;
};

/// How often a task has to be split before it is given, so that it does not take too long. Each
/// division halves what is left, at least; where that is nearly done, it is far less.
class least_depth {
public:
  std::uint64_t value() const { return depth_; }

  void took_long(std::uint64_t depth) {
    if (depth < depth_) return;
    ++depth_;
    short_ = 0;
  }
  void took_a_moment(std::uint64_t depth) {
    if (depth > depth_ || ++short_ < in_a_row || depth_ == 0) return;
    --depth_;
    short_ = 0;
  }
  /// For a heartbeat's time tasks stayed that were larger, and nothing was out: the work may not
  /// divide so far.
  void kept_all() {
    if (depth_ != 0) --depth_;
  }

private:
  static constexpr unsigned in_a_row = 8;

  std::uint64_t depth_ = 0;
  unsigned short_ = 0;
};

}  // namespace cleave::net
