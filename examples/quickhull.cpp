// Quickhull: the corners of the smallest convex polygon around points. Two branches (`both`), and
// loops over the points: the farthest one (`reduce`), and a filter that keeps the order (`each`
// with a `get`).
#include <cmath>

#include "example.hpp"

namespace {

using point = std::complex<double>;
using points = std::vector<point>;
constexpr int block = 1024;  // points

// How far p is to the left of the line from a to b, times the distance of these.
double distance(point a, point b, point p) {
  const point along = b - a, to = p - a;
  return along.real() * to.imag() - along.imag() * to.real();
}
// A function of its own in both programs: inlined into the loop GCC's code takes 1.2 times as long.
[[gnu::noinline]] void append_left(points& found, const point* in, int n, point a, point b) {
  for (int i = 0; i < n; i++)
    if (distance(a, b, in[i]) > 0) found.push_back(in[i]);
}

points plain(const points& in, point a, point b) {  // all of `in` is to the left
  if (in.empty()) return {};
  const int n = static_cast<int>(in.size());
  point c = in[0];
  double most = 0;
  for (point p : in)
    if (const double d = distance(a, b, p); d > most) most = d, c = p;
  points before, behind;
  append_left(before, in.data(), n, a, c);
  append_left(behind, in.data(), n, c, b);
  points hull = plain(before, a, c), rest = plain(behind, c, b);
  hull.push_back(c);
  hull.insert(hull.end(), rest.begin(), rest.end());
  return hull;
}

// By blocks: a loop with a put looks for requests in each iteration.
points filter(const point* in, int n, point a, point b) {
  points found;
  cleave::each(
      0, (n + block - 1) / block,
      [&found, in, n, a, b](int k) {
        append_left(found, in + k * block, std::min(block, n - k * block), a, b);
      },
      [=](int from, int to) {
        return cleave::call<filter>(in + from * block, std::min(n, to * block) - from * block, a,
                                    b);
      },
      [&found](const points& part) { found.insert(found.end(), part.begin(), part.end()); });
  return found;
}

struct candidate {
  double distance;
  int at;
};
points parallel(const points& in, point a, point b) {
  if (in.empty()) return {};
  const int n = static_cast<int>(in.size());
  const auto farthest = cleave::reduce(
      0, n, candidate{0, 0},
      [=, in = in.data()](int i) {
        return candidate{distance(a, b, in[i]), i};
      },
      [](candidate x, candidate y) { return y.distance > x.distance ? y : x; });
  const point c = in[farthest.at];
  auto [hull, rest] = cleave::both([=, &in] { return parallel(filter(in.data(), n, a, c), a, c); },
                                   [=, &in] { return parallel(filter(in.data(), n, c, b), c, b); });
  hull.push_back(c);
  hull.insert(hull.end(), rest.begin(), rest.end());
  return hull;
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 1'000'000);
  points in;  // of half a disc
  for (int i = 0; i < e.size; i++)
    in.push_back(std::polar(std::sqrt(std::fmod(i * 0.754877666, 1)),
                            std::acos(-1.0) * std::fmod(i * 0.569840291, 1)));
  return e.run([&] { return plain(in, -1, 1); }, [&] { return parallel(in, -1, 1); });
}
