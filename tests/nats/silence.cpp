// When a node is lost: no relay, and no clock.
#include "nats/silence.hpp"

#include <gtest/gtest.h>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

constexpr moment start{1h};

TEST(silence, is_borne_as_long_as_was_said) {
  silence of(start, 3s);
  EXPECT_FALSE(of.is_too_long(start + 3s));
  EXPECT_TRUE(of.is_too_long(start + 3001ms));
  of.end(start + 2s);
  EXPECT_FALSE(of.is_too_long(start + 5s));
  EXPECT_TRUE(of.is_too_long(start + 5001ms));
  of.bear(10s);
  EXPECT_FALSE(of.is_too_long(start + 12s));
  of.end(start);  // heard before
  EXPECT_FALSE(of.is_too_long(start + 12s));
}

/// It may only be connecting again.
TEST(silence, is_borne_for_a_moment_where_nobody_listens) {
  silence of(start, 3s);
  const relays_word word;
  of.nobody_listens(start + 1s, word);
  EXPECT_FALSE(of.is_too_long(start + 1600ms));
  EXPECT_TRUE(of.is_too_long(start + 1601ms));
  of.nobody_listens(start + 1500ms, word);  // that is no life sign
  EXPECT_TRUE(of.is_too_long(start + 1601ms));
  of.end(start + 1601ms);
  EXPECT_FALSE(of.is_too_long(start + 4s));
}

/// The relay was away, and the other node comes back to it later than this one.
TEST(silence, is_borne_as_ever_when_the_relay_was_away) {
  relays_word word;
  word.connected(start, 1);
  word.connected(start + 10s, 2);
  silence of(start + 10s, 3s);
  of.nobody_listens(start + 10s, word);
  of.nobody_listens(start + 12s, word);
  EXPECT_FALSE(of.is_too_long(start + 13s));
  of.nobody_listens(start + 13s, word);
  EXPECT_FALSE(of.is_too_long(start + 13s));
  EXPECT_TRUE(of.is_too_long(start + 13601ms));
}

TEST(relays_word, is_believed_at_first) {
  relays_word word;
  EXPECT_TRUE(word.is_believed(start));
  word.connected(start, 1);
  EXPECT_TRUE(word.is_believed(start));
}

/// Others connect later than this node.
TEST(relays_word, is_doubted_for_three_seconds_when_it_was_away) {
  relays_word word;
  word.connected(start, 1);
  word.connected(start + 10s, 2);
  EXPECT_FALSE(word.is_believed(start + 10s));
  EXPECT_FALSE(word.is_believed(start + 12999ms));
  EXPECT_TRUE(word.is_believed(start + 13s));
  word.connected(start + 20s, 3);
  EXPECT_FALSE(word.is_believed(start + 20s));
}

}  // namespace
}  // namespace cleave::net::nats
