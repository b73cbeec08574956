// A point, a velocity or a force in space.
#pragma once

#include <cmath>

namespace apps {

struct vec3 {
  double x = 0, y = 0, z = 0;

  vec3& operator+=(const vec3& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  vec3& operator-=(const vec3& b) {
    x -= b.x;
    y -= b.y;
    z -= b.z;
    return *this;
  }
  friend vec3 operator+(vec3 a, const vec3& b) { return a += b; }
  friend vec3 operator-(vec3 a, const vec3& b) { return a -= b; }
  friend vec3 operator*(double s, const vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
  friend double dot(const vec3& a, const vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
  friend double length(const vec3& a) { return std::sqrt(dot(a, a)); }
};

}  // namespace apps
