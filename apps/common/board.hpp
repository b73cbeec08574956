// Where the blocks of a matrix are.
#pragma once

#include <cmath>

namespace apps {

// Nodes like the fields of a chessboard, as square as can be, to which the blocks of a matrix are
// dealt. In each direction block i, counted from the end, goes to the node that is the sum of i's
// digits in a number system with as many digits as nodes: to 0 1 1 0 1 0 0 1 ... of two (the
// Thue-Morse sequence), to 0 1 2 1 2 0 2 0 1 ... of three. Nodes in turn would have the same number
// of blocks; so they have the same work, too, of which there is more in each block than in the one
// before it, and some to the end.
class board {
public:
  explicit board(unsigned nodes) : rows_(static_cast<unsigned>(std::sqrt(nodes))) {
    while (nodes % rows_ != 0) --rows_;
    columns_ = nodes / rows_;
  }

  // The node of a block of a matrix that has `count` x `count`.
  unsigned node(int row, int column, int count) const {
    return digit_sum(count - 1 - row, rows_) * columns_ + digit_sum(count - 1 - column, columns_);
  }

private:
  static unsigned digit_sum(int i, unsigned digits) {
    if (digits == 1) return 0;
    unsigned sum = 0;
    for (auto left = static_cast<unsigned>(i); left > 0; left /= digits) sum += left % digits;
    return sum % digits;
  }

  unsigned rows_, columns_ = 1;
};

}  // namespace apps
