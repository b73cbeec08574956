#include "sim/decomposition.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "common/board.hpp"
#include "graph/schedule.hpp"

namespace sim {
namespace {

using cleave::detail::access_mode;
using cleave::detail::recorded_graph;

/// Makes the subtasks of apps/lu/blocks.hpp, in its order. Their durations are numbers of
/// multiplications.
class lu_graph {
public:
  lu_graph(const decomposition_run& run, unsigned nodes)
      : rows_(run.rows), block_(run.block), board_(nodes) {
    g_.nodes = nodes;
    g_.names = {"factor", "solve", "subtract"};
    g_.messages.sending = g_.messages.receiving = {2, 0.001};
    for (int i = 0; i < count_; ++i)
      for (int j = 0; j < count_; ++j) g_.bytes.push_back(8.0 * size(i) * size(j));
    run_panel(0);
    for (int k = 0; k < count_; ++k)
      for (int j = k + 1; j < count_; ++j) {
        add(1, {{k, k}}, {k, j}, size(k) * size(k) * size(j) / 2);
        for (int i = k + 1; i < count_; ++i)
          add(2, {{i, k}, {k, j}}, {i, j}, size(i) * size(k) * size(j));
        if (j == k + 1) run_panel(j);
      }
  }
  /// The graph, if one worker takes so many microseconds for it.
  recorded_graph in(double microseconds) && {
    double all = 0;
    for (const auto& s : g_.subtasks) all += s.duration;
    for (auto& s : g_.subtasks) s.duration *= microseconds / all;
    return std::move(g_);
  }

private:
  struct place_in_matrix {
    int i, j;
  };
  double size(int i) const { return std::min(block_, rows_ - i * block_); }
  std::uint32_t datum(place_in_matrix at) const {
    return static_cast<std::uint32_t>(at.i * count_ + at.j);
  }
  void run_panel(int k) {
    add(0, {}, {k, k}, size(k) * size(k) * size(k) / 3);
    for (int i = k + 1; i < count_; ++i) add(1, {{k, k}}, {i, k}, size(k) * size(k) * size(i) / 2);
  }
  void add(std::uint32_t name, const std::vector<place_in_matrix>& reads, place_in_matrix writes,
           double duration) {
    for (const auto& at : reads) g_.uses.push_back({datum(at), access_mode::in});
    g_.uses.push_back({datum(writes), access_mode::inout});
    const unsigned node = board_.node(writes.i, writes.j, count_);
    g_.subtasks.push_back({name, recorded_graph::any_rank, node,
                           static_cast<std::uint32_t>(g_.uses.size()), 0, duration});
  }

  const int rows_, block_;
  const int count_ = (rows_ + block_ - 1) / block_;
  const apps::board board_;
  recorded_graph g_;
};

/// Links from the first site to each other one.
class links final : public cleave::detail::network {
public:
  links(const layout& l, const std::vector<place>& nodes) : layout_(l), nodes_(nodes) {}
  double arrives(unsigned from, unsigned to, double bytes, double at) override {
    constexpr double inside = 100, switch_megabits = 1000;
    const unsigned a = nodes_[from].site, b = nodes_[to].site;
    if (a == b) return at + inside + 8 * bytes / switch_megabits;
    return through(b, down_, bytes, through(a, up_, bytes, at + inside));
  }
  double megabytes() const { return megabytes_; }

private:
  double through(unsigned site, std::vector<double>& free, double bytes, double at) {
    const connection c = to_hub(layout_, site);
    if (c.megabits == 0) return at;
    free.resize(std::max<std::size_t>(free.size(), site + 1));
    free[site] = std::max(free[site], at) + 8 * bytes / c.megabits;
    megabytes_ += 1e-6 * bytes;
    return free[site] + 500 * c.round_trip;
  }

  const layout& layout_;
  const std::vector<place>& nodes_;
  std::vector<double> up_, down_;  // when each site's link is free
  double megabytes_ = 0;
};

}  // namespace

decomposition_result run_decomposition(const decomposition_run& run) {
  const std::vector<place> nodes = nodes_of(run.where);
  for (const place& p : nodes)
    if (p.workers != nodes[0].workers)
      throw std::invalid_argument("--workers: expected as many on each node");
  const recorded_graph g = lu_graph(run, static_cast<unsigned>(nodes.size())).in(1e6 * run.seconds);
  links between(run.where, nodes);
  std::vector<std::uint32_t> ranks;
  for (const auto& s : g.subtasks) ranks.push_back(s.ran_on);
  const double time = cleave::detail::simulated(
      g, {static_cast<unsigned>(nodes.size()), nodes[0].workers, g.messages, &between}, ranks);
  return {1e-6 * time, 1e6 * run.seconds / time, g.subtasks.size(), between.megabytes()};
}

}  // namespace sim
