// What members of a team say, written and read part by part.
#include "protocol/team_letter.hpp"

#include "protocol/message.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cleave::net::tests {
namespace {

bytes some(std::size_t n) {
  bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>(3 * i + n);
  return b;
}

struct heard {
  std::vector<bytes> parts;
  const char* wrong;
};
heard read(bytes in) {
  team_parts of(std::move(in));
  heard all{};
  while (auto part = of.next()) all.parts.push_back(std::move(*part));
  all.wrong = of.wrong();
  return all;
}

TEST(team_letter, is_what_encode_makes) {
  for (const std::vector<std::size_t>& lengths :
       {std::vector<std::size_t>{}, {0}, {5}, {300}, {1, 0, 200, 100'000}}) {
    team_letter letter(7, 8, 900);
    team_data same{900, {}};
    for (const std::size_t n : lengths) letter.add(some(n)), same.parts.push_back(some(n));
    const bytes wire = letter.take();
    EXPECT_EQ(wire, encode({7, 8, 0, same}));
    EXPECT_TRUE(is_team_data(wire, 7));
    const auto [parts, wrong] = read(wire);
    EXPECT_EQ(wrong, nullptr);
    EXPECT_EQ(parts, same.parts);
    EXPECT_EQ(team_parts(wire).team(), 900u);
    EXPECT_EQ(team_parts(encode({7, 8, 11, same})).to(), 11u);
  }
}

TEST(team_letter, is_full_before_its_parts_need_two_bytes) {
  team_letter letter(1, 2, 3);
  team_data same{3, {}};
  while (!letter.is_full()) letter.add(some(1)), same.parts.push_back(some(1));
  EXPECT_EQ(same.parts.size(), 127u);
  EXPECT_EQ(letter.take(), encode({1, 2, 0, same}));
}

TEST(team_letter, of_one_part_is_written_in_place) {
  for (const std::size_t n : {0, 1, 127, 128, 16'383, 16'384, 3'000'000}) {
    bytes letter;
    begin_only_part(letter, 7, 8, 900);
    const std::size_t begun = letter.size();
    const bytes part = some(n);
    letter.insert(letter.end(), part.begin(), part.end());
    end_only_part(letter, begun);
    EXPECT_TRUE(is_team_data(letter, 7));
    EXPECT_EQ(read(letter).parts, std::vector<bytes>(1, part));
    EXPECT_EQ(read(letter).wrong, nullptr);
    message m;
    ASSERT_EQ(decode(bytes(letter), m), nullptr);
    EXPECT_EQ(std::get<team_data>(m.body), (team_data{900, {part}}));
    EXPECT_EQ(m.from, 8u);
  }
}

TEST(team_parts, that_are_cut_short_or_go_on_are_told) {
  const bytes whole = encode({1, 2, 0, team_data{3, {some(4), some(200), some(0)}}});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto [parts, wrong] = read(bytes(whole.begin(), whole.begin() + static_cast<long>(n)));
    EXPECT_NE(wrong, nullptr) << n;
    EXPECT_LT(parts.size(), 3u);
  }
  bytes longer = whole;
  longer.push_back(std::byte{1});
  EXPECT_STREQ(read(longer).wrong, "goes on after its end");
  EXPECT_STREQ(read(encode({1, 0, 0, team_data{3, {some(4)}}})).wrong, "no incarnation");
}

}  // namespace
}  // namespace cleave::net::tests
