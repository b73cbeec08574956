// Atoms in order of small cells, to find those that are near.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "../common/vec3.hpp"

namespace apps::md {

// Cells of half the distance that is near, so that what is near an atom is in the five of each
// direction around its own. Those of a column (x, y) follow each other.
class cells {
public:
  // `low` and `high` are those of a block; cells go on beyond it, as far as the potential reaches.
  cells(const vec3& low, const vec3& high, double near)
      : width_(near / 2),
        low_(low - vec3{near, near, near}),
        nx_(many(high.x - low.x)),
        ny_(many(high.y - low.y)),
        nz_(many(high.z - low.z)) {}

  // Puts them in order: `order()` is that of the cells.
  void sort(std::span<const vec3> positions) {
    first_.assign(static_cast<std::size_t>(nx_ * ny_ * nz_) + 1, 0);
    cell_.resize(positions.size());
    for (std::size_t i = 0; i < positions.size(); i++) {
      cell_[i] = cell_of(positions[i]);
      first_[cell_[i] + 1]++;
    }
    for (std::size_t c = 1; c < first_.size(); c++) first_[c] += first_[c - 1];
    order_.resize(positions.size());
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < positions.size(); i++)
      order_[next[cell_[i]]++] = static_cast<int>(i);
  }
  const std::vector<int>& order() const { return order_; }

  // f(first, last) for each of the 25 pieces of the order in which atoms near that one are.
  template <class F>
  void for_near(std::size_t atom, const F& f) const {
    const int c = cell_[atom], z = c % nz_, y = c / nz_ % ny_, x = c / (ny_ * nz_);
    for (int i = std::max(x - 2, 0); i <= std::min(x + 2, nx_ - 1); i++)
      for (int j = std::max(y - 2, 0); j <= std::min(y + 2, ny_ - 1); j++) {
        const int column = (i * ny_ + j) * nz_;
        f(first_[column + std::max(z - 2, 0)], first_[column + std::min(z + 2, nz_ - 1) + 1]);
      }
  }

private:
  int many(double length) const { return static_cast<int>(length / width_) + 5; }
  int cell_of(const vec3& p) const {
    const auto along = [this](double from_low, int n) {
      return std::clamp(static_cast<int>(from_low / width_), 0, n - 1);
    };
    return (along(p.x - low_.x, nx_) * ny_ + along(p.y - low_.y, ny_)) * nz_ +
           along(p.z - low_.z, nz_);
  }

  double width_;
  vec3 low_;
  int nx_, ny_, nz_;
  std::vector<int> cell_, first_, order_;
};

}  // namespace apps::md
