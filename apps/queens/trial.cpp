#include "trial.hpp"

#include <tuple>
#include <vector>

#include "../common/measure.hpp"
#include "dealt.hpp"
#include "queens.hpp"
#include "sequential.hpp"

namespace apps::queens {
namespace {

constexpr int known = 20;

answer solutions_of(int n, std::uint64_t found) {
  return n <= known ? counted(found, " solutions", expected(n)) : counted(found, " solutions");
}

struct dealing {
  int n = 0, nodes = 1;
  auto input() { return std::tie(n, nodes); }
  team_result<dealt::findings> run(cleave::team& all) const {
    auto [cost, found] = timed([&] { return dealt::search_all(n, nodes, all); });
    return {cost, std::move(found)};
  }
};

answer answer_of(int n, int nodes, const dealt::findings& found) {
  answer a = solutions_of(n, found.solutions());
  char text[80];
  std::snprintf(text, sizeof text, "; %d nodes: at most %.2f times as fast as one", nodes,
                found.speedup(nodes));
  a.text += text;
  std::vector<std::int64_t> solutions;
  std::vector<double> seconds;
  for (const dealt::column& c : found.columns) {
    solutions.push_back(c.solutions);
    seconds.push_back(c.seconds);
  }
  a.more = {{"dealt_to", std::int64_t{nodes}},
            {"column_solutions", solutions},
            {"column_seconds", seconds},
            {"dealt_speedup", found.speedup(nodes)}};
  return a;
}

}  // namespace

trial trial_of(int n) {
  auto on_new_board = [=](auto search) {
    return [=] {
      board b(n);
      return search(b);
    };
  };
  return make_trial(on_new_board([](board& b) { return sequential::search(b); }),
                    on_new_board([](board& b) { return parallel::search(b); }),
                    [=](std::uint64_t found) { return solutions_of(n, found); });
}

trial trial_of_dealing(int n, int nodes) {
  const trial dealt =
      make_team_trial([=] { return dealt::search_all(n); }, dealing{n, nodes},
                      [=](const auto& found) { return answer_of(n, nodes, found); });
  return [=](cleave::runtime* workers) {
    outcome both = dealt(workers);
    if (workers == nullptr) return both;
    const auto [cost, found] = timed(*workers, [=] {
      board b(n);
      return parallel::search(b);
    });
    both.found.more.emplace_back("divided_seconds", cost.seconds);
    if (both.found.wrong.empty()) both.found.wrong = solutions_of(n, found).wrong;
    return both;
  };
}

}  // namespace apps::queens
