// Where the blocks of a matrix are.
#pragma once

#include <algorithm>
#include <cmath>

namespace apps {

// Nodes like the fields of a chessboard, as square as can be. The blocks of a matrix are dealt to
// them in each direction there and back again, from the end on: ... 1 0 0 1 2 2 1 0. So all nodes
// have as much work, most of which the last blocks make, and have some to the end.
class board {
public:
  explicit board(unsigned nodes) : rows_(static_cast<unsigned>(std::sqrt(nodes))) {
    while (nodes % rows_ != 0) --rows_;
    columns_ = nodes / rows_;
  }

  // The node of a block of a matrix that has `count` x `count`.
  unsigned node(int row, int column, int count) const {
    return there_and_back(count - 1 - row, rows_) * columns_ +
           there_and_back(count - 1 - column, columns_);
  }

private:
  static unsigned there_and_back(int i, unsigned end) {
    const unsigned at = static_cast<unsigned>(i) % (2 * end);
    return std::min(at, 2 * end - 1 - at);
  }

  unsigned rows_, columns_ = 1;
};

}  // namespace apps
