// Strassen's product of two matrices (1969): seven products of half the size. A loop over a table
// of them: `each`.
#include "example.hpp"

namespace {

using matrix = std::vector<double>;  // n rows of n, a power of two

constexpr struct {  // quadrants of the factors, and where the product is added
  int left[4], right[4], used[4];
} product[] = {
    {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}},  {{0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 1, -1}},
    {{1, 0, 0, 0}, {0, 1, 0, -1}, {0, 1, 0, 1}}, {{0, 0, 0, 1}, {-1, 0, 1, 0}, {1, 0, 1, 0}},
    {{1, 1, 0, 0}, {0, 0, 0, 1}, {-1, 1, 0, 0}}, {{-1, 0, 1, 0}, {1, 1, 0, 0}, {0, 0, 0, 1}},
    {{0, 1, 0, -1}, {0, 0, 1, 1}, {1, 0, 0, 0}}};

int row(int n, int quadrant, int i) { return (quadrant / 2 * n + i) * 2 * n + quadrant % 2 * n; }

matrix combined(int n, const matrix& m, const int (&sign)[4]) {
  matrix half(n * n);
  for (int q = 0; q < 4; q++)
    for (int i = 0; i < n && sign[q] != 0; i++)
      for (int j = 0; j < n; j++) half[i * n + j] += sign[q] * m[row(n, q, i) + j];
  return half;
}
matrix added_up(int n, const matrix (&m)[7]) {
  matrix c(4 * n * n);
  for (int p = 0; p < 7; p++)
    for (int q = 0; q < 4; q++)
      for (int i = 0; i < n && product[p].used[q] != 0; i++)
        for (int j = 0; j < n; j++) c[row(n, q, i) + j] += product[p].used[q] * m[p][i * n + j];
  return c;
}
matrix multiplied(int n, const matrix& a, const matrix& b) {
  matrix c(n * n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

matrix plain(int n, const matrix& a, const matrix& b) {
  if (n <= 64) return multiplied(n, a, b);
  matrix m[7];
  for (int p = 0; p < 7; p++)
    m[p] = plain(n / 2, combined(n / 2, a, product[p].left), combined(n / 2, b, product[p].right));
  return added_up(n / 2, m);
}

matrix parallel(int n, const matrix& a, const matrix& b) {
  if (n <= 64) return multiplied(n, a, b);
  matrix m[7];
  cleave::each(0, 7, [n = n / 2, &a, &b, &m](int p) {
    m[p] = parallel(n, combined(n, a, product[p].left), combined(n, b, product[p].right));
  });
  return added_up(n / 2, m);
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 9);  // the logarithm of n
  const int n = 1 << e.size;
  matrix a(n * n), b(n * n);
  for (int i = 0; i < n * n; i++) a[i] = i % 1009, b[i] = i % 997;
  return e.run([&] { return plain(n, a, b); }, [&] { return parallel(n, a, b); });
}
