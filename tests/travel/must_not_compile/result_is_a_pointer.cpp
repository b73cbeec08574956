// An address is no result.
// error: .*the result of a task with input.. is a pointer
#include <cleave/cleave.hpp>
#include <tuple>

struct piece {
  int n;
  auto input() { return std::tie(n); }
  int* run() { return &n; }
};

int main() {
  cleave::both([] { return 1; }, piece{1});
}
