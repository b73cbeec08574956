#include "nats/parts.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cleave::net::nats::assembler;
using cleave::net::nats::endpoint;
using cleave::net::nats::part_header;
using cleave::net::nats::write_part;
using bytes = std::vector<std::byte>;

const assembler::clock::time_point now{1h};
const endpoint one{{"here", "m1"}, "p"}, other{{"here", "m2"}, "p"};

bytes message(std::size_t size) {
  bytes all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::byte>(i * i % 251);
  return all;
}

std::vector<bytes> parts_of(const bytes& all, std::uint64_t number, std::size_t most) {
  std::vector<bytes> parts;
  for (std::size_t done = 0; done < all.size();)
    done = write_part(number, all, done, most, parts.emplace_back());
  return parts;
}

TEST(parts, become_the_message_again) {
  for (const std::size_t size : {1u, 7u, 8u, 9u, 100u, 1000u}) {
    assembler a(1000);
    const bytes all = message(size);
    const auto parts = parts_of(all, 5, part_header + 8);
    EXPECT_EQ(parts.size(), (size + 7) / 8);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_LE(parts[i].size(), part_header + 8);
      const auto whole = a.take(one, parts[i], now);
      ASSERT_EQ(whole.has_value(), i + 1 == parts.size());
      if (whole) { EXPECT_EQ(*whole, all); }
    }
    EXPECT_EQ(a.unfinished(), 0u);
  }
}

TEST(parts, of_two_senders_do_not_meet) {
  assembler a(1000);
  const bytes first = message(20), second = message(30);
  const auto from_one = parts_of(first, 1, part_header + 10),
             from_other = parts_of(second, 1, part_header + 15);
  EXPECT_FALSE(a.take(one, from_one[0], now));
  EXPECT_FALSE(a.take(other, from_other[0], now));
  EXPECT_EQ(a.take(one, from_one[1], now), first);
  EXPECT_EQ(a.take(other, from_other[1], now), second);
}

TEST(parts, of_many_names_of_a_machine_take_no_more_than_of_a_few_and_end_nobody_elses) {
  assembler a(1000);
  const auto parts = parts_of(message(1000), 1, part_header + 500);
  EXPECT_FALSE(a.take(one, parts[0], now));
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(a.take({{"here", "m3"}, std::to_string(i)}, parts[0], now + 1s));
    EXPECT_LE(a.unfinished(), 6u);
  }
  EXPECT_TRUE(a.take(one, parts[1], now + 1s));  // the oldest
  EXPECT_FALSE(a.take(other, parts[0], now + 2s));
  EXPECT_TRUE(a.take(other, parts[1], now + 2s));
}

/// As after a loss, or from somebody who wants to do harm.
TEST(parts, that_do_not_follow_end_the_message) {
  const auto parts = parts_of(message(30), 1, part_header + 10);
  const auto none_of = [&](std::vector<bytes> said) {
    assembler a(1000);
    for (const bytes& part : said) EXPECT_FALSE(a.take(one, part, now));
    return a.unfinished();
  };
  EXPECT_EQ(none_of({parts[0], parts[2], parts[1]}), 0u);            // one is missing
  EXPECT_EQ(none_of({parts[0], parts[1], parts[1], parts[2]}), 0u);  // one comes twice
  EXPECT_EQ(none_of({parts[1], parts[2]}), 0u);                      // no beginning
  const auto next = parts_of(message(30), 2, part_header + 10);      // another one's
  EXPECT_EQ(none_of({parts[0], next[1], next[2]}), 0u);
  const auto longer = parts_of(message(31), 1, part_header + 10);  // it was to be shorter
  EXPECT_EQ(none_of({parts[0], longer[1], parts[2]}), 0u);
  bytes more = parts[2];
  more.push_back({});
  EXPECT_EQ(none_of({parts[0], parts[1], more}), 0u);
  EXPECT_EQ(none_of({bytes(part_header)}), 0u);  // nothing in it
  EXPECT_EQ(none_of({message(3)}), 0u);
  EXPECT_EQ(none_of(parts_of(message(1001), 1, part_header + 500)), 0u);  // longer than is taken
}

TEST(parts, of_one_that_is_begun_again_are_those_that_count) {
  assembler a(1000);
  const bytes all = message(30);
  const auto old = parts_of(message(20), 1, part_header + 10),
             parts = parts_of(all, 2, part_header + 10);
  EXPECT_FALSE(a.take(one, old[0], now));
  EXPECT_FALSE(a.take(one, parts[0], now));
  EXPECT_FALSE(a.take(one, parts[1], now));
  EXPECT_EQ(a.take(one, parts[2], now), all);
}

/// Each of them counts while it is kept, and no longer: after many that were begun and never ended
/// a sender has as much room as before.
TEST(parts, of_messages_that_were_begun_and_never_ended_take_nothing_from_later_ones) {
  assembler a(1000);
  const auto parts = parts_of(message(1000), 0, part_header + 400);
  for (std::uint64_t number = 0; number < 20; ++number) {
    EXPECT_FALSE(a.take(one, parts_of(message(1000), number, part_header + 400)[0], now));
    EXPECT_EQ(a.unfinished(), 1u);
  }
  EXPECT_FALSE(a.take(other, parts[0], now));
  EXPECT_FALSE(a.take(one, parts[0], now));
  EXPECT_EQ(a.unfinished(), 2u);  // nobody's has ended to make room
  EXPECT_FALSE(a.take(one, parts[1], now));
  EXPECT_EQ(a.take(one, parts[2], now), message(1000));
  EXPECT_FALSE(a.take(other, parts[1], now));
  EXPECT_EQ(a.take(other, parts[2], now), message(1000));
}

TEST(parts, of_who_says_no_more_are_forgotten) {
  assembler a(1000);
  const auto parts = parts_of(message(30), 1, part_header + 10);
  EXPECT_FALSE(a.take(one, parts[0], now));
  EXPECT_FALSE(a.take(other, parts[0], now + 29s));
  EXPECT_EQ(a.unfinished(), 2u);
  EXPECT_FALSE(a.take(other, parts[0], now + 31s));
  EXPECT_EQ(a.unfinished(), 1u);
}

}  // namespace
