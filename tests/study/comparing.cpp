// Comparing two studies, and reading one.
#include "study/compare.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "study/page.hpp"
#include "support/input_error.hpp"
#include "temporary_folder.hpp"

namespace {

study::cell cell_of(const std::string& kernel, std::vector<double> seconds) {
  study::cell c;
  c.kernel = kernel, c.system = "cleave", c.workers = 2, c.arguments = "n = 30";
  c.seconds = c.cycles = std::move(seconds);
  return c;
}

study::measured study_of(std::vector<study::cell> cells) {
  study::measured m;
  m.date = "today", m.machine = "this </script> one", m.size = "quick";
  m.systems = {{"cleave", "0.1", ""}, {"other", "", "find_package(other)"}};
  m.cells = std::move(cells);
  return m;
}

TEST(comparing, medians_that_are_apart) {
  const auto before =
      study_of({cell_of("fib", {1.00, 1.01, 1.02, 1.03}), cell_of("uts", {1, 1.1, 1.2, 1.3})});
  const auto after =
      study_of({cell_of("fib", {1.20, 1.21, 1.22, 1.23}), cell_of("uts", {1.1, 1.2, 1.3, 1.4})});
  const auto found = study::changes(before, after);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kernel, "fib");
  EXPECT_NEAR(found[0].after / found[0].before, 1.197, 0.001);
  EXPECT_TRUE(study::changes(before, before).empty());
}

TEST(comparing, small_changes_are_noise) {
  EXPECT_TRUE(study::changes(study_of({cell_of("fib", {1, 1, 1})}),
                             study_of({cell_of("fib", {1.04, 1.04, 1.04})}))
                  .empty());
}

TEST(comparing, what_fails_in_one_of_them) {
  auto broken = cell_of("fib", {});
  broken.failed = "wrong answer";
  const auto found = study::changes(study_of({cell_of("fib", {1})}), study_of({broken}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].note, "fails: wrong answer");
}

TEST(comparing, other_sizes_are_not_compared) {
  auto larger = cell_of("fib", {9});
  larger.arguments = "n = 37";
  EXPECT_TRUE(study::changes(study_of({cell_of("fib", {1})}), study_of({larger})).empty());
}

TEST(reading, what_was_written) {
  const cleave::tests::temporary_folder own;
  const std::string file = own.path / "study.json";
  auto written = cell_of("fib", {1, 2, 3});
  written.shares = {{"elapsed", 2}, {"work", 1.5}};
  written.profile = {{"work", 1}, {"span", 0.1}};
  std::ofstream(file) << study::to_json(study_of({written}));
  const auto m = study::read_json(file);
  ASSERT_EQ(m.cells.size(), 1u);
  EXPECT_EQ(m.cells[0].seconds, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(m.cells[0].shares, written.shares);
  EXPECT_EQ(m.cells[0].profile, written.profile);
  EXPECT_EQ(m.systems[1].missing, "find_package(other)");
}

TEST(reading, something_else) {
  const cleave::tests::temporary_folder own;
  const std::string file = own.path / "other.json";
  EXPECT_THROW(study::read_json(file), apps::input_error);
  for (const char* text : {"", "{}", "[1, 2", "{\"study\": 1}"}) {
    std::ofstream(file) << text;
    EXPECT_THROW(study::read_json(file), apps::input_error) << text;
  }
  auto newer = study::to_json(study_of({}));
  const std::string version = "\"study\":1";
  ASSERT_EQ(newer.rfind("{" + version, 0), 0u) << newer;
  newer.replace(1, version.size(), "\"study\":2");
  std::ofstream(file) << newer;
  EXPECT_THROW(study::read_json(file), apps::input_error);
}

TEST(reading, says_on_one_line_what_is_wrong) {
  const cleave::tests::temporary_folder own;
  const std::string file = own.path / "other.json";
  for (std::string text : {"\x7f\x01\n", "{\"study\": \"x\"}"}) {
    std::ofstream(file) << text;
    try {
      study::read_json(file);
      ADD_FAILURE() << text;
    } catch (const apps::input_error& e) {
      EXPECT_EQ(e.got.find("json.exception"), std::string::npos) << e.got;
      for (char c : e.got) EXPECT_TRUE(c >= ' ' && c <= '~') << e.got;
    }
  }
  auto none = study_of({cell_of("fib", {1})});
  none.cpus = 0;
  std::ofstream(file) << study::to_json(none);
  EXPECT_THROW(study::read_json(file), apps::input_error) << "no CPUs";
}

TEST(page, holds_the_data_and_nothing_ends_it_early) {
  const std::string text = study::page(study_of({cell_of("fib", {1, 2, 3})}));
  EXPECT_EQ(text.find("/*DATA*/"), std::string::npos);
  EXPECT_NE(text.find("find_package(other)"), std::string::npos);
  EXPECT_EQ(text.find("this </script> one"), std::string::npos);
  if (text.find("built without Chart.js\n") == std::string::npos) {
    EXPECT_GT(text.size(), 150'000u);  // the plots' library is in it
  }
}

TEST(quantiles, lie_between) {
  EXPECT_EQ(study::median({3, 1, 2}), 2);
  EXPECT_EQ(study::median({1, 2, 3, 4}), 2.5);
  EXPECT_EQ(study::quantile({0, 10}, 0.25), 2.5);
  EXPECT_EQ(study::median({}), 0);
}

}  // namespace
