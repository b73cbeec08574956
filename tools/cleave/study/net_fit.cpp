#include "net_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace study::networks {
namespace {

constexpr std::size_t unknowns = 3;
using row = std::array<double, unknowns>;

// One equation: the sum of factors times unknowns is to be `seconds`.
struct equation {
  row factors{};
  double seconds = 0;
  double weight = 1;
  double unit = seconds;  // what a difference is compared with
};

double predicted(const equation& e, const row& x) {
  double sum = 0;
  for (std::size_t i = 0; i < unknowns; ++i) sum += e.factors[i] * x[i];
  return sum;
}
// From -1 to 1: of what is far too long or far too short, neither counts for more.
double residual(const equation& e, const row& x) {
  const double p = predicted(e, x);
  return (p - e.seconds) / std::max(p, e.seconds);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Whether this one is unlike those of the next lengths, up and down: no line tells yet what is far
// off, and one that is much too short would draw the first line to itself.
bool is_alone(const std::vector<point>& all, std::size_t i) {
  constexpr std::size_t near = 2;
  constexpr double times = 8;
  if (all.size() <= 2 * near) return false;
  const std::size_t from = std::min(i - std::min(i, near), all.size() - 2 * near - 1);
  std::vector<double> seconds;
  for (std::size_t k = from; k <= from + 2 * near; ++k) seconds.push_back(all[k].seconds);
  const double usual = median(seconds);
  return all[i].seconds > times * usual || all[i].seconds < usual / times;
}

// Adds an equation for each point: the first two unknowns by these factors, and the bytes but one
// times the third.
void add(std::vector<equation>& to, const std::vector<point>& all, double first, double second) {
  for (std::size_t i = 0; i < all.size(); ++i)
    to.push_back({{first, second, all[i].bytes - 1}, all[i].seconds, is_alone(all, i) ? 0.0 : 1.0});
}

// Solves A x = b by elimination; an unknown that nothing depends on is 0.
row solved(std::array<row, unknowns> a, row b) {
  for (std::size_t i = 0; i < unknowns; ++i) {
    std::size_t most = i;
    for (std::size_t k = i + 1; k < unknowns; ++k)
      if (std::abs(a[k][i]) > std::abs(a[most][i])) most = k;
    std::swap(a[i], a[most]), std::swap(b[i], b[most]);
    if (a[i][i] == 0) continue;
    for (std::size_t k = i + 1; k < unknowns; ++k) {
      const double times = a[k][i] / a[i][i];
      for (std::size_t c = i; c < unknowns; ++c) a[k][c] -= times * a[i][c];
      b[k] -= times * b[i];
    }
  }
  row x{};
  for (std::size_t i = unknowns; i-- > 0;) {
    double rest = b[i];
    for (std::size_t c = i + 1; c < unknowns; ++c) rest -= a[i][c] * x[c];
    x[i] = a[i][i] == 0 ? 0 : rest / a[i][i];
  }
  return x;
}

// The unknowns with the least sum of squared relative residuals, by weight.
row least_squares(const std::vector<equation>& all) {
  std::array<row, unknowns> a{};
  row b{};
  for (const equation& e : all) {
    const double w = e.weight / (e.unit * e.unit);
    for (std::size_t i = 0; i < unknowns; ++i) {
      b[i] += w * e.factors[i] * e.seconds;
      for (std::size_t k = 0; k < unknowns; ++k) a[i][k] += w * e.factors[i] * e.factors[k];
    }
  }
  // Bytes are many and seconds few: each unknown is solved for in its own unit.
  row unit{};
  for (std::size_t i = 0; i < unknowns; ++i) unit[i] = a[i][i] > 0 ? 1 / std::sqrt(a[i][i]) : 0;
  for (std::size_t i = 0; i < unknowns; ++i) {
    b[i] *= unit[i];
    for (std::size_t k = 0; k < unknowns; ++k) a[i][k] *= unit[i] * unit[k];
  }
  row x = solved(a, b);
  for (std::size_t i = 0; i < unknowns; ++i) x[i] *= unit[i];
  return x;
}

// The same where what is far off counts less (Huber's weights), and nothing is below 0.
row robust(std::vector<equation> all) {
  constexpr int rounds = 20;
  row x{};
  for (int i = 0; i < rounds; ++i) {
    x = least_squares(all);
    for (double& one : x) one = std::max(one, 0.0);
    std::vector<double> off;
    for (const equation& e : all) off.push_back(std::abs(residual(e, x)));
    const double usual = std::max(1.5 * median(off), 1e-6);
    for (equation& e : all) {
      e.weight = std::min(1.0, usual / std::abs(residual(e, x)));
      e.unit = std::max(e.seconds, predicted(e, x));
    }
  }
  return x;
}

}  // namespace

std::optional<loggp> fit(const std::vector<point>& send, const std::vector<point>& half,
                         const std::vector<point>& stream) {
  if (std::min({send.size(), half.size(), stream.size()}) < 2) return {};
  // Between two the unknowns are g, L + 2 o, and G; of sends they are o, nothing, and what a byte
  // costs.
  std::vector<equation> between, sends;
  add(between, stream, 1, 0);
  add(between, half, 0, 1);
  add(sends, send, 1, 0);
  const row x = robust(between);
  loggp found;
  found.gap = x[0], found.gap_per_byte = x[2];
  // A process is not longer busy with a message than half of the time from one to the other.
  found.overhead = std::min(robust(sends)[0], x[1] / 2);
  found.latency = x[1] - 2 * found.overhead;
  std::vector<double> off;
  for (const equation& e : between) off.push_back(std::abs(residual(e, x)));
  found.error = median(off);
  return found;
}

}  // namespace study::networks
