#pragma once

#include <typeindex>
#include <unordered_map>

namespace cleave::detail {

/// Which subtasks are worth lending, by what those with the same function have cost that were lent.
/// One thread at a time uses it.
class worth {
public:
  /// Whether those of that type should be lent, as far as is known at that time, in microseconds.
  /// Those of which nothing was known for a while should, whatever was known before.
  bool is(std::type_index what, double now) const noexcept;
  /// One has come back that took `run` microseconds there, and `cost` here.
  void note(std::type_index what, double run, double cost, double now);

private:
  struct experience {
    double run, cost, at;
    unsigned count = 1;
  };
  std::unordered_map<std::type_index, experience> known_;
};

}  // namespace cleave::detail
