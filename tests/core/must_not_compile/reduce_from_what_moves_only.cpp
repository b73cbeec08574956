// The identity cannot be copied, and there is no put.
// error: the identity of a reduce without a put is copied for each part
#include <cleave/loop.hpp>

#include <memory>

auto f() {
  return cleave::reduce(
      0, 9, std::unique_ptr<int>(), [](int i) { return std::make_unique<int>(i); },
      [](std::unique_ptr<int> a, std::unique_ptr<int> b) {
        return a ? std::move(a) : std::move(b);
      });
}
