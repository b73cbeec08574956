// FT's array over the ranks, and its transforms in three dimensions. Each rank has some planes (all
// x and y of some z); the transform along z needs all z of some y, so there the array is turned
// round by MPI_Alltoall.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "fft.hpp"

namespace apps::ft {

using complex = std::complex<double>;

struct shape {
  std::size_t x, y, z;
  std::size_t all() const { return x * y * z; }
};

// Two forms of the same elements:
//
//     planes[z of mine][y][x]     beams[z][y of mine][x]
//
// What rank a sends to rank b is [z of a][y of b][x] in either direction: a part of b's beams,
// without a gap.
class field {
public:
  field(shape of, int ranks)
      : of_(of),
        ranks_(static_cast<std::size_t>(ranks)),
        deep_(of.z / ranks_),
        wide_(of.y / ranks_),
        along_x_(of.x),
        along_y_(of.y),
        along_z_(of.z),
        planes_(of.all() / ranks_),
        parcels_(planes_.size()),
        strip_(std::max({of.x, of.y, of.z})) {}

  array<complex>& planes() { return planes_; }
  std::size_t deep() const { return deep_; }  // how many z this rank has
  std::size_t wide() const { return wide_; }  // how many y this rank's beams have

  // Transforms planes into beams, and spoils the planes.
  void forward(array<complex>& beams) {
    for (std::size_t z = 0; z < deep_; ++z) {
      transform_x(z, direction::forward);
      each_strip(along_y_, direction::forward, &at(planes_, z * of_.y * of_.x), of_.x,
                 [&](std::size_t y) { return parcel(z, y); });
    }
    exchange(parcels_, beams);
    for (std::size_t y = 0; y < wide_; ++y) {
      complex* const first = &beams[y * of_.x];
      each_strip(along_z_, direction::forward, first, wide_ * of_.x,
                 [&](std::size_t z) { return first + z * wide_ * of_.x; });
    }
  }

  // Transforms beams into planes; evolve(line of x, z, y, from x) changes elements of beams before
  // they are transformed.
  template <class Evolve>
  void backward(array<complex>& beams, Evolve evolve) {
    const std::size_t step = wide_ * of_.x;
    for (std::size_t y = 0; y < wide_; ++y) {
      for (std::size_t x = 0; x < of_.x; x += lines) {
        for (std::size_t z = 0; z < of_.z; ++z) {
          complex* const from = &beams[z * step + y * of_.x + x];
          evolve(from, z, y, x);
          load(from, strip_[z]);
        }
        along_z_(strip_, direction::backward);
        for (std::size_t z = 0; z < of_.z; ++z)
          store(strip_[z], &parcels_[z * step + y * of_.x + x]);
      }
    }
    exchange(parcels_, planes_);
    planes_.swap(parcels_);
    for (std::size_t z = 0; z < deep_; ++z) {
      for (std::size_t x = 0; x < of_.x; x += lines) {
        for (std::size_t y = 0; y < of_.y; ++y) load(parcel(z, y) + x, strip_[y]);
        along_y_(strip_, direction::backward);
        for (std::size_t y = 0; y < of_.y; ++y)
          store(strip_[y], &planes_[(z * of_.y + y) * of_.x + x]);
      }
      transform_x(z, direction::backward);
    }
  }

private:
  static complex& at(array<complex>& v, std::size_t i) { return v[i]; }

  // Where the x of (z, y) lie among what is sent and received.
  complex* parcel(std::size_t z, std::size_t y) {
    return &parcels_[((y / wide_ * deep_ + z) * wide_ + y % wide_) * of_.x];
  }
  static void load(const complex* from, row& to) {
    for (std::size_t l = 0; l < lines; ++l) to.re[l] = from[l].real(), to.im[l] = from[l].imag();
  }
  static void store(const row& from, complex* to) {
    for (std::size_t l = 0; l < lines; ++l) to[l] = {from.re[l], from.im[l]};
  }

  // Transforms along an axis, `lines` neighbours in x at a time: element i of them is at first + i
  // · apart, and goes to to(i).
  template <class To>
  void each_strip(const fft& along, direction way, const complex* first, std::size_t apart, To to) {
    for (std::size_t x = 0; x < of_.x; x += lines) {
      for (std::size_t i = 0; i < along.length(); ++i) load(first + i * apart + x, strip_[i]);
      along(strip_, way);
      for (std::size_t i = 0; i < along.length(); ++i) store(strip_[i], to(i) + x);
    }
  }
  // Along x the lines are neighbours in y.
  void transform_x(std::size_t z, direction way) {
    for (std::size_t y = 0; y < of_.y; y += lines) {
      complex* const first = &planes_[(z * of_.y + y) * of_.x];
      for (std::size_t l = 0; l < lines; ++l) {
        const complex* const line = first + l * of_.x;
        for (std::size_t x = 0; x < of_.x; ++x)
          strip_[x].re[l] = line[x].real(), strip_[x].im[l] = line[x].imag();
      }
      along_x_(strip_, way);
      for (std::size_t l = 0; l < lines; ++l) {
        complex* const line = first + l * of_.x;
        for (std::size_t x = 0; x < of_.x; ++x) line[x] = {strip_[x].re[l], strip_[x].im[l]};
      }
    }
  }
  void exchange(const array<complex>& from, array<complex>& to) const {
    const auto count = static_cast<int>(from.size() / ranks_);
    MPI_Alltoall(from.data(), count, MPI_C_DOUBLE_COMPLEX, to.data(), count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
  }

  shape of_;
  std::size_t ranks_, deep_, wide_;
  fft along_x_, along_y_, along_z_;
  array<complex> planes_, parcels_;
  strip strip_;
};

}  // namespace apps::ft
