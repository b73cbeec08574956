// The lengths that TSPLIB defines by coordinates. Source: G. Reinelt, TSPLIB 95 (1995), section 2.
#pragma once

#include <algorithm>
#include <cmath>

namespace apps::tsp {

struct point {
  double x = 0, y = 0;  // GEO: latitude and longitude
};

namespace detail {

inline double nearest(double x) { return std::floor(x + 0.5); }
inline double distance(point a, point b) {
  const double x = a.x - b.x, y = a.y - b.y;
  return std::sqrt(x * x + y * y);
}

// Degrees with minutes as decimals, in radians. The degrees are cut off, not rounded: only so do
// the tours 1, 2, … n have the lengths that section 2.7 gives.
inline double radians(double coordinate) {
  constexpr double pi = 3.141592;
  const double degrees = std::trunc(coordinate);
  const double minutes = coordinate - degrees;
  return pi * (degrees + 5.0 * minutes / 3.0) / 180.0;
}

}  // namespace detail

inline double euclidean(point a, point b) { return detail::nearest(detail::distance(a, b)); }
inline double rounded_up(point a, point b) { return std::ceil(detail::distance(a, b)); }

inline double pseudo_euclidean(point a, point b) {
  const double x = a.x - b.x, y = a.y - b.y;
  const double r = std::sqrt((x * x + y * y) / 10.0), rounded = detail::nearest(r);
  return rounded < r ? rounded + 1 : rounded;
}

inline double geographical(point a, point b) {
  constexpr double radius = 6378.388;  // of the earth, in kilometres
  const point p{detail::radians(a.x), detail::radians(a.y)},
      q{detail::radians(b.x), detail::radians(b.y)};
  const double q1 = std::cos(p.y - q.y), q2 = std::cos(p.x - q.x), q3 = std::cos(p.x + q.x);
  const double cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);  // rounded: 1 and a little more
  return std::trunc(radius * std::acos(std::clamp(cosine, -1.0, 1.0)) + 1.0);
}

}  // namespace apps::tsp
