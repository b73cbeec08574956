#pragma once

#include <cstdint>
#include <typeindex>
#include <unordered_map>

namespace cleave::detail {

/// Which subtasks are worth lending, by what those with the same function have cost that were lent.
/// One thread at a time uses it.
class worth {
public:
  /// Whether those of that type should be lent, as far as is known: those of which nothing is known
  /// should.
  bool is(std::type_index what) const noexcept;
  /// Whether one that is not worth it should be lent all the same, in case that has changed.
  bool is_tried(std::type_index what) noexcept;
  /// One has come back that took `run` microseconds there, and `cost` here.
  void note(std::type_index what, double run, double cost);

private:
  struct experience {
    double run = 0, cost = 0;
    std::uint32_t refused = 0;
  };
  std::unordered_map<std::type_index, experience> known_;
};

}  // namespace cleave::detail
