#include "study/cosched_figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "study/cosched_cases.hpp"
#include "study/cosched_data.hpp"

namespace {

using namespace study::sharing;
using seconds = std::vector<double>;

void expect_fair(const seconds& begins, const seconds& lengths, const seconds& expected) {
  const seconds fair = fair_seconds(begins, lengths);
  ASSERT_EQ(fair.size(), expected.size());
  for (std::size_t i = 0; i < fair.size(); ++i) EXPECT_NEAR(fair[i], expected[i], 1e-9) << i;
}

TEST(fair_shares, alone) { expect_fair({100}, {3}, {3}); }
TEST(fair_shares, at_once) { expect_fair({5, 5, 5}, {2, 2, 2}, {6, 6, 6}); }
TEST(fair_shares, a_short_one_and_a_long_one) { expect_fair({0, 0}, {1, 3}, {2, 4}); }
// One second alone, two together, and the second one's last second alone.
TEST(fair_shares, one_begins_later) { expect_fair({0, 1}, {2, 2}, {3, 3}); }
TEST(fair_shares, with_a_gap) { expect_fair({0, 10}, {2, 3}, {2, 3}); }

TEST(sharing, names) {
  const job steps{"bsp", {"100", "--imbalance", "50", "--steps", "7"}};
  EXPECT_EQ(steps.name(), "bsp 100 --imbalance 50 --steps 7");
  EXPECT_EQ(steps.title(), "bsp 100 --imbalance 50");
  EXPECT_EQ((way{"two-phase", 30}.name()), "two-phase 30 us");
  EXPECT_EQ((way{"gang", -1}.name()), "gang");
}

// A cell of copies that took so long in each pass.
cell cell_of(const std::string& part, int copies, const std::string& mode, const seconds& passes) {
  cell c;
  c.part = part;
  c.jobs.assign(static_cast<std::size_t>(copies), job{"cg", {"A", "--times", "6"}});
  c.by = {mode};
  for (std::size_t i = 0; i < passes.size(); ++i) {
    c.passes.push_back(static_cast<int>(i) + 1);
    c.seconds.emplace_back(c.jobs.size(), passes[i]);
    c.cpu_seconds.push_back(2 * passes[i]);
  }
  return c;
}

const figure* find(const std::vector<figure>& all, const std::string& goal,
                   const std::string& mode) {
  for (const figure& f : all)
    if (f.goal == goal && f.mode == mode) return &f;
  return nullptr;
}

TEST(sharing, page_holds_the_data) {
  measured m;
  m.cells.push_back(cell_of("alone", 1, "plain", {}));
  m.cells[0].failed = "</script>";
  const std::string text = page(m);
  EXPECT_NE(text.find("\"study\":\"cosched\""), std::string::npos);
  EXPECT_NE(text.find("<\\/script>"), std::string::npos) << "what would end the script is escaped";
}

TEST(figures, compare_within_each_pass) {
  measured m;
  // The machine was half as fast in the second pass.
  m.cells = {cell_of("alone", 1, "plain", {1, 2, 1}),
             cell_of("alone", 1, "two-phase", {1.02, 2.04, 1.1}),
             cell_of("alone", 1, "adaptive", {1.05})};
  const auto all = figures_of(m);
  const figure* const f = find(all, "alone, in times of plain MPI", "two-phase");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->jobs, "cg A");
  EXPECT_NEAR(f->measured, 1.02, 1e-9);
  EXPECT_NEAR(f->most, 1.1, 1e-9);
  EXPECT_TRUE(f->met());
  const figure* const cut = find(all, "alone, in times of plain MPI", "adaptive");
  ASSERT_NE(cut, nullptr) << "one pass only was measured";
  EXPECT_NEAR(cut->measured, 1.05, 1e-9);
  EXPECT_FALSE(cut->met());
}

TEST(figures, at_least) {
  measured m;
  m.cells = {cell_of("copies", 2, "plain", {5}), cell_of("copies", 2, "two-phase", {2})};
  const auto all = figures_of(m);
  const figure* const f = find(all, "at once, times as fast as plain MPI", "two-phase");
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(f->measured, 2.5, 1e-9);
  EXPECT_TRUE(f->met());
  EXPECT_EQ(find(all, "at once, in times of gang", "two-phase"), nullptr) << "no gang was measured";
}

TEST(figures, useful_cpu_seconds_are_those_of_block_alone) {
  measured m;
  m.cells = {cell_of("alone", 1, "block", {1}), cell_of("copies", 3, "two-phase", {3.3})};
  const auto all = figures_of(m);
  const figure* const f = find(all, "CPU seconds, in times of the useful ones", "two-phase");
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(f->measured, 6.6 / 6, 1e-9);
  EXPECT_FALSE(f->met());
}

TEST(cases, figures_of_the_goals) {
  kernels k(false, 2);
  make_last(k.cg, 0.25, 1.5), make_last(k.ft, 2, 1.5);
  EXPECT_EQ(k.cg.name(), "cg A --times 6");
  EXPECT_EQ(k.ft.name(), "ft A");
  EXPECT_NEAR(k.cg.expected, 1.5, 1e-9);
  const auto all = cases_of({{}, {}, false, true}, "mpich", k, 1.5);
  for (const cell& c : all.cells) {
    EXPECT_NE(c.by.mode, "yield") << "MPICH has none";
    EXPECT_GT(fair_end(c), 0.3) << c.title();
    EXPECT_LT(fair_end(c), 8) << c.title();
  }
  EXPECT_EQ(all.pass.size(), all.cells.size() + 6) << "alone twice, because a per cent matters";
}

TEST(cases, plain_alone_is_always_there) {
  const auto all = cases_of({{"mixed"}, {"gang"}, true, false}, "openmpi", kernels(true, 2), 1);
  int plain = 0;
  for (const cell& c : all.cells) plain += c.by.mode == "plain" ? 1 : 0;
  EXPECT_EQ(plain, 2);
}

}  // namespace
