// crossing N PIECES: a job of tasks whose bytes are of many types. Prints the number of solutions
// for N queens, then PIECES lines of text.
#include <cleave/cleave.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "queens/queens.hpp"

namespace {

using apps::queens::board;

std::uint64_t solutions(int n) {
  board empty(n);
  return apps::queens::parallel::search(empty);
}

enum class kind : signed char { even = -1, odd = 1 };

struct pieces {
  int from, to;
  std::map<std::string, double> weights;
  char sign;  // signed on one architecture, unsigned on the other
  wchar_t letter;
  std::optional<float> third;
  kind what;
  auto input() { return std::tie(from, to, weights, sign, letter, third, what); }

  std::string run() {
    if (to - from > 1) {
      const int middle = from + (to - from) / 2;
      pieces first = *this, second = *this;
      first.to = second.from = middle;
      const auto [a, b] = cleave::both([&] { return first.run(); }, std::move(second));
      return a + b;
    }
    std::string text = std::to_string(solutions(8 + from % 2)) + (int(what) < 0 ? "e" : "o");
    for (const auto& [name, weight] : weights) text += name + std::to_string(weight * from);
    return text + std::to_string(static_cast<unsigned char>(sign)) + std::to_string(letter) +
           std::to_string(third.value_or(0)) + "\n";
  }
};

}  // namespace

int main(int argc, char** argv) {
  cleave::runtime runtime(argc, argv);
  if (argc != 3) return 2;
  const int n = std::atoi(argv[1]), count = std::atoi(argv[2]);
  const auto queens = runtime.run([n] { return solutions(n); });
  const auto text = runtime.run([count] {
    const std::map<std::string, double> weights = {{"a", 0.1}, {"b", -1e-3}};
    return pieces{0, count, weights, '\xe9', L'\u03bb', 1 / 3.0F, kind::even}.run();
  });
  std::printf("%llu\n%s", static_cast<unsigned long long>(queens), text.c_str());
}
