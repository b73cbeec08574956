// Adaptive quadrature: an interval is halved until Simpson's rule is exact enough in both halves.
// Two branches without a workspace: `both`.
#include <cmath>

#include "example.hpp"

namespace {

double f(double x) { return std::sin(1 / x) * std::exp(-x); }

struct interval {  // with the values at its ends and in its middle, and Simpson's rule
  double a, b, fa, fm, fb, area;
  interval(double from, double to, double at_from, double at_middle, double at_to)
      : a(from),
        b(to),
        fa(at_from),
        fm(at_middle),
        fb(at_to),
        area((b - a) / 6 * (fa + 4 * fm + fb)) {}
  double middle() const { return (a + b) / 2; }
  interval left() const { return {a, middle(), fa, f((a + middle()) / 2), fm}; }
  interval right() const { return {middle(), b, fm, f((middle() + b) / 2), fb}; }
};

double plain(const interval& whole, double error) {
  const interval left = whole.left(), right = whole.right();
  const double both = left.area + right.area;
  if (std::abs(both - whole.area) <= 15 * error) return both;
  return plain(left, error / 2) + plain(right, error / 2);
}

double parallel(const interval& whole, double error) {
  const interval left = whole.left(), right = whole.right();
  const double sum = left.area + right.area;
  if (std::abs(sum - whole.area) <= 15 * error) return sum;
  const auto [x, y] = cleave::both([=] { return parallel(left, error / 2); },
                                   cleave::call<parallel>(right, error / 2));
  return x + y;
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 13);  // digits
  const double error = std::pow(10, -e.size), a = 1e-3, b = 2;
  const interval whole(a, b, f(a), f((a + b) / 2), f(b));
  return e.run([&] { return plain(whole, error); }, [&] { return parallel(whole, error); });
}
