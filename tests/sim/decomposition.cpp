// The graph of an LU decomposition at sites: all work is done, and each block crosses to each node
// that reads it once.
#include "sim/decomposition.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "common/board.hpp"

namespace sim {
namespace {

constexpr layout four(unsigned workers) { return {layout::kind::four, workers, 0}; }

TEST(decomposition, one_worker_takes_what_it_is_said_to) {
  for (const int block : {10, 64, 300}) {
    const auto r = run_decomposition({{layout::kind::one, 1, 0}, 200, block, 7});
    EXPECT_NEAR(r.seconds, 7, 1e-6);
    EXPECT_EQ(r.megabytes, 0);
  }
}

TEST(decomposition, subtasks_are_those_of_the_blocks) {
  for (const auto& [rows, n] : {std::pair(64, 1u), std::pair(65, 2u), std::pair(640, 10u)})
    EXPECT_EQ(run_decomposition({four(4), rows, 64, 1}).subtasks,
              n + n * (n - 1) + (n - 1) * n * (2 * n - 1) / 6);
}

TEST(decomposition, workers_share_the_work) {
  double before = 0;
  for (const unsigned workers : {4u, 16u, 64u}) {
    const auto r = run_decomposition({four(workers), 8'000, 250, 10'000});
    EXPECT_GT(r.speedup, before);
    EXPECT_LE(r.speedup, workers);
    before = r.speedup;
  }
}

// By the definition of LU: block (i, j) is computed where it is dealt, and reads (i, k) and (k, j)
// for each k < i, j, or up to its own place if it is solved or factored.
TEST(decomposition, a_block_crosses_once_to_each_node_that_reads_it) {
  constexpr int n = 9, block = 10, rows = n * block;
  const apps::board nodes(4);  // one at each site, of which site 0 is the hub
  std::set<std::pair<std::pair<int, int>, unsigned>> crosses;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const auto reads = [&](int a, int b) {
        if (nodes.node(a, b, n) != nodes.node(i, j, n))
          crosses.insert({{a, b}, nodes.node(i, j, n)});
      };
      for (int k = 0; k < std::min(i, j); ++k) reads(i, k), reads(k, j);
      if (i != j) reads(std::min(i, j), std::min(i, j));
    }
  double bytes = 0;
  for (const auto& [from, to] : crosses) {
    const bool hub = nodes.node(from.first, from.second, n) == 0 || to == 0;
    bytes += (hub ? 1 : 2) * 8.0 * block * block;
  }
  EXPECT_NEAR(run_decomposition({four(4), rows, block, 1}).megabytes, 1e-6 * bytes, 1e-9);
}

// No link is faster than it is.
TEST(decomposition, slow_links_are_waited_for) {
  const auto r = run_decomposition({four(4), 4'000, 100, 1});
  EXPECT_GT(r.seconds, 8 * r.megabytes / 3 / 570);
  EXPECT_LT(r.speedup, 1);
}

TEST(decomposition, nodes_need_as_many_workers) {
  EXPECT_THROW(run_decomposition({four(9), 100, 10, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace sim
