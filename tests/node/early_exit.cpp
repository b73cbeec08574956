// labels: once slow
// Loops that end early over several nodes: who finds something elsewhere ends the loop here, and
// what was given to other nodes ends when it is not wanted any more.
#include "core/pool.hpp"
#include "core/requests.hpp"
#include "node/nodes/loopback.hpp"

#include <cleave/call.hpp>
#include <cleave/find.hpp>
#include <cleave/reduce_until.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::atomic<const detail::pool*> root_pool{nullptr};
bool elsewhere() { return &detail::here.self->of != root_pool; }

template <class F>
auto run(job& j, F f) {
  root_pool = j.root().pool();
  return j.root().run(std::move(f));
}

std::atomic<int> running{0};  // iterations that do not end by themselves, elsewhere
struct counted {
  counted() noexcept { ++running; }
  ~counted() { --running; }
};
void await(const std::atomic<int>& n, int value) {
  const auto end = clock::now() + 20s;
  while (n != value && clock::now() < end) poll();
  EXPECT_EQ(n, value);
}
void endless() {
  const auto end = clock::now() + 60s;
  while (clock::now() < end) poll();
  ADD_FAILURE() << "nobody has cancelled it";
}

/// The first half of the iterations waits here for the second, which is elsewhere and has no end.
std::optional<int> found_here(int from, int to) {
  return find_first(
      from, to,
      [](int i) {
        if (elsewhere()) {
          const counted one;
          endless();
        }
        await(running, 1);
        return std::optional<int>(i);
      },
      [](int f, int t) { return call<found_here>(f, t); });
}

TEST(early_exit, cancels_what_another_node_has) {
  job j(2, 1);
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(run(j, [] { return found_here(0, 2); }), 0);
    const auto end = clock::now() + 20s;
    while (running != 0 && clock::now() < end) std::this_thread::sleep_for(100us);
    EXPECT_EQ(running, 0) << "goes on although nobody waits for it";
  }
}

/// This node's iteration has no end; the other one's finds something.
std::optional<int> found_elsewhere(int from, int to) {
  return find_any(
      from, to,
      [](int i) {
        if (!elsewhere()) endless();
        return std::optional<int>(i);
      },
      [](int f, int t) { return call<found_elsewhere>(f, t); });
}

TEST(early_exit, another_node_ends_the_iteration_of_this_one) {
  job j(2, 1);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(run(j, [] { return found_elsewhere(0, 2); }), 1);
}

using best_of = shared<int, max>;
int enough_elsewhere(int from, int to, shared_ref<best_of> state);
int look(int i, int) {
  if (i == 0) return 1;
  if (!elsewhere()) endless();
  return 100;
}
int enough_elsewhere(int from, int to, shared_ref<best_of> state) {
  return reduce_until(
      from, to, state, look, [](int best) { return best >= 100; },
      [](int f, int t, shared_ref<best_of> s) { return call<enough_elsewhere>(f, t, s); });
}

TEST(early_exit, a_state_that_is_enough_elsewhere_ends_the_loop_here) {
  job j(2, 1);
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(run(j,
                  [] {
                    return reduce_until(
                        0, 3, 0, look, max{}, [](int best) { return best >= 100; },
                        [](int f, int t, shared_ref<best_of> s) {
                          return call<enough_elsewhere>(f, t, s);
                        });
                  }),
              100);
  }
}

// ---- alpha-beta in any weather

int value_of(std::uint64_t node) { return static_cast<int>(random_at(node) % 201) - 100; }
std::uint64_t child(std::uint64_t node, int i) {
  return mix(node * 31 + static_cast<std::uint64_t>(i));
}
constexpr int width = 5, worst = -1000;

int minimax(std::uint64_t node, int depth) {
  if (depth == 0) return value_of(node);
  int best = worst;
  for (int i = 0; i < width; ++i) best = std::max(best, -minimax(child(node, i), depth - 1));
  return best;
}

int search(std::uint64_t node, int depth, int alpha, int beta);
int search_between(std::uint64_t node, int depth, int alpha, int beta, int from, int to,
                   shared_ref<best_of> state);
auto body(std::uint64_t node, int depth, int alpha, int beta) {
  return [=](int i, int best) {
    poll();
    return -search(child(node, i), depth - 1, -beta, -std::max(alpha, best));
  };
}
auto put(std::uint64_t node, int depth, int alpha, int beta) {
  return [=](int from, int to, shared_ref<best_of> state) {
    return call<search_between>(node, depth, alpha, beta, from, to, state);
  };
}
int search_between(std::uint64_t node, int depth, int alpha, int beta, int from, int to,
                   shared_ref<best_of> state) {
  return reduce_until(
      from, to, state, body(node, depth, alpha, beta), [=](int best) { return best >= beta; },
      put(node, depth, alpha, beta));
}
int search(std::uint64_t node, int depth, int alpha, int beta) {
  if (depth == 0) return value_of(node);
  return reduce_until(
      0, width, worst, body(node, depth, alpha, beta), max{},
      [=](int best) { return best >= beta; }, put(node, depth, alpha, beta));
}

TEST(early_exit, alpha_beta_is_right_in_any_weather) {
  std::uint64_t crossed = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    job j(3, 2, {.seed = seed, .delay = microseconds(200), .loss = 0.02, .twice = 0.02});
    for (std::uint64_t root = 0; root < 5; ++root)
      EXPECT_EQ(run(j, [=] { return search(root, 9, worst, -worst); }), minimax(root, 9)) << root;
    crossed += j.crossed();
  }
  EXPECT_GT(crossed, 0u);
}

}  // namespace
}  // namespace cleave::tests
