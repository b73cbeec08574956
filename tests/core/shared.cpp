// shared: a value that only improves, with and without a witness.
#include "core/requests.hpp"

#include <array>
#include <string>
#include <thread>

namespace cleave::tests {
namespace {

TEST(shared_value, only_improves) {
  shared<int> best(3);
  EXPECT_EQ(best.get(), 3);
  EXPECT_FALSE(best.offer(2));
  EXPECT_FALSE(best.offer(3));
  EXPECT_TRUE(best.offer(5));
  EXPECT_EQ(best.get(), 5);
  shared<double, cleave::min> least(3.5);
  EXPECT_FALSE(least.offer(4));
  EXPECT_TRUE(least.offer(-1));
  EXPECT_EQ(least.get(), -1);
}

struct gcd {
  unsigned operator()(unsigned a, unsigned b) const { return b == 0 ? a : (*this)(b, a % b); }
};

TEST(shared_value, merges_by_any_rule) {
  shared<unsigned, gcd> common(60);
  EXPECT_FALSE(common.offer(120));
  EXPECT_TRUE(common.offer(42));
  EXPECT_EQ(common.get(), 6u);
}

TEST(shared_value, keeps_the_witness_of_the_best) {
  shared<int, cleave::max, std::string> best(0);
  EXPECT_FALSE(best.best().second.has_value());
  EXPECT_TRUE(best.offer(4, "four"));
  EXPECT_FALSE(best.offer(4, "another four"));
  EXPECT_FALSE(best.offer(3, "three"));
  EXPECT_EQ(best.best(), (std::pair{4, std::optional<std::string>("four")}));
}

/// Copies half of itself, then throws.
struct half_copied {
  int a = 0, b = 0;
  half_copied() = default;
  half_copied(int n) : a(n), b(n) {}
  half_copied(const half_copied& other) { *this = other; }
  half_copied& operator=(const half_copied& other) {
    a = other.a;
    if (other.a > 5) throw std::bad_alloc();
    b = other.b;
    return *this;
  }
};
TEST(shared_value, a_witness_that_cannot_be_copied_changes_nothing) {
  shared<int, cleave::max, half_copied> best{0};
  EXPECT_TRUE(best.offer(1, 3));
  EXPECT_THROW(best.offer(2, 7), std::bad_alloc);
  const auto [value, witness] = best.best();
  EXPECT_EQ(value, 1);
  EXPECT_EQ(witness->a, 3);
  EXPECT_EQ(witness->b, 3);
}

TEST(shared_value, from_many_threads) {
  shared<long> best(-1);
  shared<long, cleave::max, std::array<long, 9>> with_witness(
      -1);  // a witness that tears if it can
  std::atomic<long> improvements{0};
  std::vector<std::thread> threads;
  for (long t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      long seen = -1;
      for (long i = 0; i < 20'000; ++i) {
        const long v = i * 4 + t;
        improvements += best.offer(v);
        std::array<long, 9> mine;
        mine.fill(v);
        with_witness.offer(v, mine);
        const auto [value, witness] = with_witness.best();
        mine.fill(value);
        if (witness != mine) ADD_FAILURE() << value << " with the witness of another";
        if (value < seen) ADD_FAILURE() << "went back";
        seen = value;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(best.get(), 79'999);
  EXPECT_EQ(with_witness.get(), 79'999);
  EXPECT_LE(improvements, 80'000);
}

/// Branch and bound over the runtime: the bound prunes, the optimum is found with its witness.
struct knapsack {
  static constexpr int weight[] = {3, 4, 5, 9, 4, 7, 2, 6, 8, 5, 3, 7, 6, 4, 9, 2};
  static constexpr int worth[] = {3, 4, 4, 10, 5, 8, 1, 6, 9, 4, 3, 8, 5, 5, 11, 2};
  shared<int, cleave::max, unsigned> best{0};
  void pack(int i, int room, int value, unsigned taken) {
    disturb(taken * 16u + static_cast<unsigned>(i), 6);
    best.offer(value, taken);
    if (i == 16) return;
    int rest = 0;
    for (int k = i; k < 16; ++k) rest += worth[k];
    if (value + rest <= best.get()) return;
    if (weight[i] > room) return pack(i + 1, room, value, taken);
    both([=, this] { pack(i + 1, room - weight[i], value + worth[i], taken | 1u << i); },
         [=, this] { pack(i + 1, room, value, taken); });
  }
};

class shared_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(shared_with);

TEST_P(shared_with, branch_and_bound) {
  int optimum = 0;
  for (unsigned taken = 0; taken < 1u << 16; ++taken) {
    int w = 0, v = 0;
    for (unsigned i = 0; i < 16; ++i) {
      if (taken >> i & 1) w += knapsack::weight[i], v += knapsack::worth[i];
    }
    if (w <= 30) optimum = std::max(optimum, v);
  }
  for (int k = 0; k < 5; ++k) {
    knapsack s;
    rt.run([&s] { s.pack(0, 30, 0, 0); });
    const auto [value, taken] = s.best.best();
    EXPECT_EQ(value, optimum);
    int w = 0, v = 0;
    for (unsigned i = 0; i < 16; ++i) {
      if (*taken >> i & 1) w += knapsack::weight[i], v += knapsack::worth[i];
    }
    EXPECT_LE(w, 30);
    EXPECT_EQ(v, value);
  }
}

}  // namespace
}  // namespace cleave::tests
