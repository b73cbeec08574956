// error: .*an idempotent Update is commutative, too, and returns a bool
#include <cleave/cleave.hpp>
#include <cleave/gathered.hpp>

struct add {
  static constexpr bool commutative = true, idempotent = true;
  void operator()(long& sum, const long& x) const { sum += x; }
};

int main() {
  cleave::gathered<long, add> sum;
  sum.update(1);
}
