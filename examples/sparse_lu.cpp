// The LU factorisation of a matrix of blocks, many of which are empty (after BOTS, A. Duran and
// others, 2009). Loops whose iterations write to blocks of their own, one in the other: `each`.
#include "example.hpp"

namespace {

constexpr int side = 24;  // of a block
using block = std::vector<double>;

struct matrix {
  int n;
  std::vector<block> blocks;
  block& at(int i, int j) { return blocks[i * n + j]; }
};

matrix make(int n) {
  matrix m{n, std::vector<block>(n * n)};
  int value = 1325;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (std::abs(i - j) > 1 && (i % 2 == 1 || j % 2 == 1 || std::min(i, j) % 3 != 0)) continue;
      for (int k = 0; k < side * side; k++)
        m.at(i, j).push_back(((value = 3125 * value % 65536) - 32768) / 16384.0);
    }
  return m;
}

// x[i][j] -= y[i][k] * z[k][j] for the rows i from `first` and the columns j from `left`.
void subtract(block& x, const block& y, const block& z, int k, int first, int left) {
  for (int i = first; i < side; i++)
    for (int j = left; j < side; j++) x[i * side + j] -= y[i * side + k] * z[k * side + j];
}
// Divides what is under the diagonal (or, of another block, all) by it, and eliminates.
void solve_column(const block& d, block& b, bool is_diagonal) {
  for (int k = 0; k < side; k++) {
    const int first = is_diagonal ? k + 1 : 0;
    for (int i = first; i < side; i++) b[i * side + k] /= d[k * side + k];
    subtract(b, b, d, k, first, k + 1);
  }
}
void solve_row(const block& d, block& b) {
  for (int k = 0; k < side; k++) subtract(b, d, b, k, k + 1, 0);
}
void update(const block& a, const block& b, block& c) {
  c.resize(side * side);
  for (int k = 0; k < side; k++) subtract(c, a, b, k, 0, 0);
}

matrix plain(matrix m) {
  for (int k = 0; k < m.n; k++) {
    solve_column(m.at(k, k), m.at(k, k), true);
    for (int i = k + 1; i < m.n; i++) {
      if (!m.at(k, i).empty()) solve_row(m.at(k, k), m.at(k, i));
      if (!m.at(i, k).empty()) solve_column(m.at(k, k), m.at(i, k), false);
    }
    for (int i = k + 1; i < m.n; i++)
      for (int j = k + 1; j < m.n; j++)
        if (!m.at(i, k).empty() && !m.at(k, j).empty()) update(m.at(i, k), m.at(k, j), m.at(i, j));
  }
  return m;
}

matrix parallel(matrix m) {
  for (int k = 0; k < m.n; k++) {
    solve_column(m.at(k, k), m.at(k, k), true);
    cleave::each(k + 1, m.n, [k, &m](int i) {
      if (!m.at(k, i).empty()) solve_row(m.at(k, k), m.at(k, i));
      if (!m.at(i, k).empty()) solve_column(m.at(k, k), m.at(i, k), false);
    });
    cleave::each(k + 1, m.n, [k, &m](int i) {
      if (m.at(i, k).empty()) return;
      cleave::each(k + 1, m.n, [k, i, &m](int j) {
        if (!m.at(k, j).empty()) update(m.at(i, k), m.at(k, j), m.at(i, j));
      });
    });
  }
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 40);  // blocks in a row
  const matrix m = make(e.size);
  return e.run([&] { return plain(m).blocks; }, [&] { return parallel(m).blocks; });
}
