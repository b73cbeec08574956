// The fast Fourier transform, by recursion on the even and the odd places. Two branches that write
// to halves of one array: `both`; and then a loop of its own: `each`.
#include <cmath>
#include <numbers>

#include "example.hpp"

namespace {

using complex = std::complex<double>;

struct plan {  // the transform of n values, that stand `stride` apart in the input
  const complex* in;
  complex* out;
  const complex* roots;
  int n, stride, all;

  plan even() const { return {in, out, roots, n / 2, 2 * stride, all}; }
  plan odd() const { return {in + stride, out + n / 2, roots, n / 2, 2 * stride, all}; }
  void combine(int i) const {
    const complex x = out[i], w = roots[i * stride], y = out[n / 2 + i];
    const complex turned(w.real() * y.real() - w.imag() * y.imag(),
                         w.real() * y.imag() + w.imag() * y.real());
    out[i] = x + turned, out[n / 2 + i] = x - turned;
  }
};

void plain(const plan& p) {
  if (p.n == 1) return void(p.out[0] = p.in[0]);
  plain(p.even());
  plain(p.odd());
  for (int i = 0; i < p.n / 2; i++) p.combine(i);
}

void parallel(const plan& p) {
  if (p.n == 1) return void(p.out[0] = p.in[0]);
  cleave::both([p] { parallel(p.even()); }, [p] { parallel(p.odd()); });
  cleave::each(0, p.n / 2, [p](int i) { p.combine(i); });
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 18);  // the logarithm of the number of values
  const int n = 1 << e.size;
  std::vector<complex> in, roots;
  for (int i = 0; i < n; i++) {
    in.emplace_back(i * 7919 % 1000, i * 104729L % 1000);
    roots.push_back(std::polar(1.0, -2 * std::numbers::pi * i / n));
  }
  const auto transform = [&](auto& program) {
    std::vector<complex> out(n);
    program({in.data(), out.data(), roots.data(), n, 1, n});
    return out;
  };
  return e.run([&] { return transform(plain); }, [&] { return transform(parallel); });
}
