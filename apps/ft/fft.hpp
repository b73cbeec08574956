// Fast Fourier transforms of several lines at once: Stockham's, which needs no bit reversal, by
// radix 4 (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, section 1.7). Not
// scaled.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <new>
#include <numbers>
#include <utility>
#include <vector>

namespace apps::ft {

enum class direction { forward = -1, backward = 1 };

// Lines side by side, so that the innermost loops run over lines and use vector instructions.
inline constexpr std::size_t lines = 16;

// An array that begins at a page: neighbours of one line fill whole cache lines then, which saves 6
// to 9 % of FT's time.
template <class T>
struct at_page {
  using value_type = T;
  static constexpr std::align_val_t page{4096};
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), page)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, page); }
  bool operator==(const at_page&) const { return true; }
};
template <class T>
using array = std::vector<T, at_page<T>>;

struct alignas(64) row {
  std::array<double, lines> re, im;  // one element of each line
};

// A strip has two times as many rows: what is in the one half is transformed into the other. A load
// waits for a store before it whose address has the same last 12 bits, so the halves are half a
// page off from that. Where malloc put them, by luck, made 4 % of FT's time.
class strip {
public:
  explicit strip(std::size_t longest)
      : memory_(2 * longest + apart), now_(memory_.data()), other_(now_ + longest + apart) {}
  strip(const strip&) = delete;

  row& operator[](std::size_t i) { return now_[i]; }
  row* data() { return now_; }
  row* other() { return other_; }
  void swap() { std::swap(now_, other_); }

private:
  static constexpr std::size_t apart = 2048 / sizeof(row);
  array<row> memory_;
  row *now_, *other_;
};

// Transforms of one power-of-two length, at least 2.
class fft {
public:
  explicit fft(std::size_t length) : length_(length), roots_(length) {
    for (std::size_t k = 0; k < length; ++k) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
      roots_[k] = {std::cos(angle), std::sin(angle)};
    }
  }

  std::size_t length() const { return length_; }

  // Each line becomes its transform: sum over j of x_j exp(± 2 π i j k / length).
  void operator()(strip& x, direction way) const {
    const double sign = static_cast<double>(static_cast<int>(way));
    row *from = x.data(), *to = x.other();
    std::size_t stride = 1;  // transforms of length stride are done
    if (std::countr_zero(length_) % 2 != 0) {
      step2(from, to);
      std::swap(from, to), stride = 2;
    }
    for (; stride < length_; stride *= 4, std::swap(from, to)) step4(from, to, stride, sign);
    if (from != x.data()) x.swap();
  }

private:
  struct root {
    double re, im;
  };

  void step2(const row* x, row* y) const {
    const std::size_t half = length_ / 2;
    for (std::size_t j = 0; j < half; ++j) {
      const row &a = x[j], &b = x[j + half];
      for (std::size_t l = 0; l < lines; ++l) {
        y[2 * j].re[l] = a.re[l] + b.re[l], y[2 * j].im[l] = a.im[l] + b.im[l];
        y[2 * j + 1].re[l] = a.re[l] - b.re[l], y[2 * j + 1].im[l] = a.im[l] - b.im[l];
      }
    }
  }

  // Makes transforms of length 4 · stride from those of length `stride`.
  void step4(const row* x, row* y, std::size_t stride, double sign) const {
    const std::size_t quarter = length_ / 4, groups = quarter / stride;
    for (std::size_t k = 0; k < stride; ++k) {
      const auto twiddle = [&](std::size_t times) {
        const root& r = roots_[k * groups * times];
        return root{r.re, sign * r.im};
      };
      const root t1 = twiddle(1), t2 = twiddle(2), t3 = twiddle(3);
      for (std::size_t j = 0; j < groups; ++j) {
        const row* const in = x + j * stride + k;
        row* const out = y + 4 * j * stride + k;
        butterfly(in, quarter, out, stride, t1, t2, t3, sign);
      }
    }
  }

  static void butterfly(const row* in, std::size_t apart, row* out, std::size_t stride, root t1,
                        root t2, root t3, double sign) {
    const row &a = in[0], &b = in[apart], &c = in[2 * apart], &d = in[3 * apart];
    row &p = out[0], &q = out[stride], &r = out[2 * stride], &s = out[3 * stride];
#ifndef __clang__  // Clang checks at run time that the rows do not overlap
#pragma GCC ivdep
#endif
    for (std::size_t l = 0; l < lines; ++l) {
      const double bre = b.re[l] * t1.re - b.im[l] * t1.im, bim = b.re[l] * t1.im + b.im[l] * t1.re;
      const double cre = c.re[l] * t2.re - c.im[l] * t2.im, cim = c.re[l] * t2.im + c.im[l] * t2.re;
      const double dre = d.re[l] * t3.re - d.im[l] * t3.im, dim = d.re[l] * t3.im + d.im[l] * t3.re;
      const double ac_re = a.re[l] + cre, ac_im = a.im[l] + cim;
      const double a_c_re = a.re[l] - cre, a_c_im = a.im[l] - cim;
      const double bd_re = bre + dre, bd_im = bim + dim;
      const double ib_d_re = -sign * (bim - dim), ib_d_im = sign * (bre - dre);  // ± i (b - d)
      p.re[l] = ac_re + bd_re, p.im[l] = ac_im + bd_im;
      q.re[l] = a_c_re + ib_d_re, q.im[l] = a_c_im + ib_d_im;
      r.re[l] = ac_re - bd_re, r.im[l] = ac_im - bd_im;
      s.re[l] = a_c_re - ib_d_re, s.im[l] = a_c_im - ib_d_im;
    }
  }

  std::size_t length_;
  std::vector<root> roots_;
};

}  // namespace apps::ft
