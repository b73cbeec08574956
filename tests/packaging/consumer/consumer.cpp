// What a user of the installed library writes.
#include <cleave/cleave.hpp>
#include <cleave/version.hpp>
#include <cstdio>

static long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = cleave::both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

int main() {
  cleave::runtime runtime;
  const long answer = runtime.run([] { return fib(25); });
  std::printf("fib(25) = %ld with cleave %s\n", answer, cleave::version);
}
