#include "study/cosched_data.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  EXPECT_EQ((job{"bsp", {"100", "--imbalance", "50"}, 2, 0}.name()), "bsp 100 --imbalance 50");
  EXPECT_EQ((way{"two-phase", 30}.name()), "two-phase 30 us");
  EXPECT_EQ((way{"gang", -1}.name()), "gang");
}

TEST(sharing, page_holds_the_data) {
  measured m;
  m.cells.push_back(
      {"alone", {{"cg", {"S"}, 2, 0}}, {"plain", -1}, false, "</script>", {}, {}, {}, {}});
  const std::string text = page(m);
  EXPECT_NE(text.find("\"study\":\"cosched\""), std::string::npos);
  EXPECT_NE(text.find("<\\/script>"), std::string::npos) << "what would end the script is escaped";
}

}  // namespace
