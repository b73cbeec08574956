// The study of searchers that collect tours: what is run, what is concluded, what is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "study/comes_back.hpp"
#include "study/tsp_data.hpp"
#include "study/tsp_findings.hpp"
#include "study/tsp_run.hpp"
#include "support/command_line.hpp"

namespace {

using namespace study::tours;

plan plan_with(const choice& asked) {
  std::string missing;
  return plan_of(asked, missing);
}
choice threads() {
  choice c;
  c.threads = true;
  return c;
}

TEST(cases, all) {
  const plan p = plan_with(threads());
  EXPECT_EQ(p.searchers, (std::vector{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(p.mpi, "");
  EXPECT_EQ(p.tours, 64);
  EXPECT_EQ(p.side, 8);
  const auto first = runs_of(p, 1), second = runs_of(p, 2);
  ASSERT_EQ(first.size(), 1 + 5 * 10u);
  EXPECT_EQ(first[0].name(), "one");
  EXPECT_EQ(first[1].searchers, first[10].searchers) << "the organisations are neighbours";
  EXPECT_TRUE(first.front().is_same(second.back()));
  std::set<std::string> names;
  for (const cell& c : first) names.insert(c.name());
  EXPECT_EQ(names.size(), 11u);
  EXPECT_TRUE(names.contains("master, remaining"));
  EXPECT_FALSE(names.contains("together, remaining"));
}

TEST(cases, some) {
  choice asked = threads();
  asked.searchers = {3, 2, 3}, asked.rules = {"one"}, asked.organisations = {"apart", "master"};
  const plan p = plan_with(asked);
  EXPECT_EQ(p.searchers, (std::vector{1, 2, 3})) << "one searcher is what others are compared with";
  EXPECT_EQ(runs_of(p, 1).size(), 5u);
  asked.rules = {"some"};
  EXPECT_THROW(plan_with(asked), apps::usage_error);
  asked.rules = {}, asked.organisations = {"one"};
  EXPECT_THROW(plan_with(asked), apps::usage_error);
}

TEST(cases, commands) {
  plan p = plan_with(threads());
  const auto has = [](const std::vector<std::string>& all, const std::vector<std::string>& some) {
    return std::search(all.begin(), all.end(), some.begin(), some.end()) != all.end();
  };
  const auto with_threads = command_of({"master", "part", 4, {}}, p, 3, "tsp");
  EXPECT_EQ(with_threads[0], "tsp");
  EXPECT_TRUE(has(with_threads, {"--workers", "4"}));
  EXPECT_TRUE(has(with_threads, {"--seed", "3"})) << "each pass has its own runs";
  EXPECT_TRUE(has(with_threads, {"--master", "--send", "part"}));
  p.mpi = "mpich";
  const auto with_processes = command_of({"together", "one", 4, {}}, p, 1, "tsp");
  EXPECT_TRUE(has(with_processes, {"-n", "4", "tsp"}));
  EXPECT_TRUE(has(with_processes, {"--workers", "1"}));
  EXPECT_FALSE(has(with_processes, {"--master"}));
  EXPECT_TRUE(has(command_of({"apart", "", 4, {}}, p, 1, "tsp"), {"--apart"}));
  EXPECT_EQ(command_of({"", "", 1, {}}, p, 1, "tsp")[0], "tsp") << "one needs no launcher";
}

cell measured_cell(const std::string& organisation, const std::string& rule, int searchers,
                   std::vector<double> seconds, std::vector<double> run_seconds, double sent = 0,
                   double messages = 0) {
  cell c{organisation, rule, searchers, {}};
  const std::vector<double> sents(seconds.size(), sent), told(seconds.size(), messages);
  c.values = {{"seconds", std::move(seconds)},
              {"run_seconds", std::move(run_seconds)},
              {"runs", {200, 200}},
              {"failed", {140, 140}},
              {"sent", sents},
              {"told_messages", told}};
  return c;
}

// 16 searchers as in the paper: each finding holds; or the other way round.
measured study_of(bool as_in_paper) {
  measured m;
  m.date = "2026-01-01", m.machine = "M", m.cpus = 2;
  m.what = plan_with(threads());
  m.what.passes = 2, m.whole = 1, m.interrupted = true;
  m.missing = "no MPI", m.failures = {{{"apart", "", 4, {}}, "too many"}};
  const double good = as_in_paper ? 10.5 : 20, bad = as_in_paper ? 20 : 10.5;
  m.cells = {measured_cell("", "", 1, {10, 20}, {10, 20}),
             measured_cell("apart", "", 16, {50, 100}, {as_in_paper ? 120. : 40., 1000}),
             measured_cell("together", "one", 16, {9, 10}, {good, 2 * good}, 64, 64 * 15),
             measured_cell("together", "part", 16, {9, 10}, {bad, 2 * bad}),
             measured_cell("master", "one", 16, {9, 10}, {1.1 * good, 2.2 * good},
                           as_in_paper ? 60 : 9, 75),
             measured_cell("master", "part", 16, {9, 10}, {1.2 * bad, 2.4 * bad}),
             measured_cell("master", "halving", 16, {9, 10}, {1.1 * good, 2.2 * good}),
             measured_cell("master", "remaining", 16, {9, 10}, {1.1 * good, 2.2 * good})};
  return m;
}

TEST(figures, of_the_same_pass) {
  const measured m = study_of(true);
  const cell& together = *m.find("together", "one", 16);
  EXPECT_DOUBLE_EQ(speedup(m, together), (10. / 9 + 2) / 2);
  EXPECT_DOUBLE_EQ(speedup_by_work(m, together), 16 * 10 / 10.5);
  EXPECT_DOUBLE_EQ(median_of(together, "seconds"), 9.5);
  EXPECT_EQ(median_of(together, "bytes"), 0) << "nobody has counted them";
  EXPECT_DOUBLE_EQ(speedup_by_work(m, *m.alone()), 1);
  EXPECT_EQ(m.find("together", "one", 8), nullptr);
}

std::vector<std::string> verdicts(const measured& m) {
  std::vector<std::string> all;
  for (const finding& f : findings_of(m))
    if (!f.in_words().empty()) all.push_back(f.in_words());
  return all;
}

TEST(findings, hold_or_not) {
  EXPECT_EQ(verdicts(study_of(true)), std::vector<std::string>(8, "yes"));
  // That together is before a master is so in both.
  EXPECT_EQ(verdicts(study_of(false)),
            (std::vector<std::string>{"no", "no", "no", "no", "yes", "no", "no", "no"}));
  measured few = study_of(true);
  for (cell& c : few.cells) c.searchers = std::min(c.searchers, 4);
  EXPECT_TRUE(verdicts(few).empty()) << "with 4 searchers nothing is judged";
  EXPECT_GT(findings_of(few).size(), 5u);
  measured busy = study_of(true);
  busy.beside.others = 1;
  EXPECT_TRUE(verdicts(busy).empty());
  EXPECT_TRUE(findings_of({}).empty());
}

TEST(file, comes_back) {
  expect_comes_back(study_of(true), "tsp.json", read_measured,
                    {{"\"side\": 8", "\"side\": 0"},
                     {"\"passes\": 2", "\"passes\": \"2\""},
                     {"\"apart\",\n   \"together\"", "\"apart\",\n   \"nobody\""},
                     {"\"searchers\": 16", "\"searchers\": null"}});
}

}  // namespace
