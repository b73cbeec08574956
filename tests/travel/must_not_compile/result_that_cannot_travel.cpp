// The result has to come back.
// error: .*the result of a task with input.. cannot be serialized
#include <cleave/cleave.hpp>
#include <tuple>

class secret {
public:
  secret() = default;

private:
  int value_ = 0;
};
struct piece {
  int n;
  auto input() { return std::tie(n); }
  secret run() { return {}; }
};

int main() {
  cleave::both([] { return 1; }, piece{1});
}
