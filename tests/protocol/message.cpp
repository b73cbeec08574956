#include "protocol/message.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/strategy.hpp"

namespace {

using namespace cleave::net;

bytes some(std::size_t n) {
  bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>(i * 7);
  return b;
}

std::vector<message> samples() {
  const task_key key{300, 1ULL << 40};
  const std::vector<message_body> bodies = {
      task_request{~0ULL, key},
      task_request{1, {}},
      task{2, key, 3, 4, some(300), some(3)},
      none{5, 6},
      task_result{key, ending::error, some(10), some(0)},
      result_receipt{key},
      heartbeat{9, 8, true, {4, 3, 2}, {key, {1, 2}}},
      heartbeat{},
      leave{true},
      cancel{key},
      shared_update{7, some(20)},
      fetch{1ULL << 50, 77, 1000, true, 4},
      published{3, 77, publishing::part, 0, 500, 900, some(129)},
      published{3, 77, publishing::elsewhere, 9, 0, 0, {}},
      reject{"other program"},
      inquiry{12, true},
      report{12, some(40)},
      team_begin{3, {0, 7, 1ULL << 40}, 5, some(30), some(2)},
      team_data{3, {some(200), {}, some(3)}},
      team_end{3, ending::error, 2, some(9), some(1)},
      team_cancel{3},
      heartbeat{9, 8, true, {4, 3, 2}, {key}, {{{0, 1ULL << 60}, 7}, {{4, 2}, 300}}},
      gathered_updates{{4, 2}, 300, {some(9), {}, some(300)}},
      gathered_receipt{{4, 2}, 302, 1000},
      gathered_news{{0, 1ULL << 63}, ~0ULL, 5, {{7, 1, some(20)}, {1ULL << 40, 2, {}}}},
      gathered_ask{{4, 2}, true, 12},
      gathered_value{{4, 2}, 13, 1, 2, some(200)}};
  std::vector<message> all;
  for (const auto& body : bodies) all.push_back({0x0123456789abcdefU, 42, 43, body});
  return all;
}

TEST(Message, ComesBackAsItWas) {
  for (const message& m : samples()) {
    message back;
    ASSERT_EQ(decode(encode(m), back), nullptr) << name(m.body);
    EXPECT_EQ(back, m) << name(m.body);
  }
}

// The wire is the same on every machine: these bytes are what version 3 is.
TEST(Message, HasItsBytes) {
  const bytes b = encode({0x0807060504030201U, 0x11, 0x22, task_request{300, {5, 6}}});
  const std::vector<int> expected = {3, 0, 1, 2,    3, 4, 5, 6, 7, 8, 0x11, 0,    0, 0, 0,
                                     0, 0, 0, 0x22, 0, 0, 0, 0, 0, 0, 0,    0xac, 2, 5, 6};
  ASSERT_EQ(b.size(), expected.size());
  for (std::size_t i = 0; i < b.size(); ++i)
    EXPECT_EQ(std::to_integer<int>(b[i]), expected[i]) << i;
}

TEST(Message, IsRejectedWhenTruncated) {
  for (const message& m : samples()) {
    const bytes whole = encode(m);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      message back;
      EXPECT_NE(decode(std::span(whole).first(n), back), nullptr) << name(m.body) << " " << n;
    }
  }
}

TEST(Message, IsRejectedWhenItGoesOn) {
  for (const message& m : samples()) {
    bytes longer = encode(m);
    longer.push_back(std::byte{0});
    message back;
    EXPECT_STREQ(decode(longer, back), "goes on after its end") << name(m.body);
  }
}

TEST(Message, SaysWhatIsWrong) {
  message back;
  bytes b = encode({1, 2, 3, result_receipt{{4, 5}}});
  b[1] = std::byte{200};
  EXPECT_STREQ(decode(b, back), "unknown kind of message");
  EXPECT_STREQ(decode(encode({1, 0, 3, result_receipt{}}), back), "no incarnation");
  b = encode({1, 2, 3, leave{}});
  b.back() = std::byte{2};
  EXPECT_STREQ(decode(b, back), "flag that is neither 0 nor 1");
  b = encode({1, 2, 3, inquiry{~0ULL, false}});
  b[b.size() - 2] = std::byte{3};
  EXPECT_STREQ(decode(b, back), "number above 64 bits");
}

// Of another version only the sender is known, and whether it refuses this one.
TEST(Message, OfAnotherVersionIsNotReadFurther) {
  for (const message& m : samples()) {
    bytes b = encode(m);
    b[0] = std::byte{9};
    for (std::size_t n = 26; n <= b.size(); ++n) {
      message back;
      ASSERT_EQ(decode(std::span(b).first(n), back), nullptr) << name(m.body);
      EXPECT_EQ(back.version, 9);
      EXPECT_EQ(back.from, 42U);
      const bool refuses = std::holds_alternative<reject>(m.body);
      EXPECT_EQ(back.body, refuses ? message_body(reject{}) : message_body(leave{}));
    }
    message back;
    EXPECT_STREQ(decode(std::span(b).first(25), back), "ends too early");
  }
}

// A length that promises much more than comes takes no memory and is rejected.
TEST(Message, BelievesNoLength) {
  bytes b = encode({1, 2, 3, shared_update{}});
  b.back() = std::byte{0xff};
  for (int i = 0; i < 7; ++i) b.push_back(std::byte{0xff});
  b.push_back(std::byte{1});
  message back;
  EXPECT_STREQ(decode(b, back), "string longer than the message");
  b = encode({1, 2, 3, heartbeat{}});
  b.back() = std::byte{0x7f};
  EXPECT_STREQ(decode(b, back), "list longer than the message");
}

// Whether the message may be taken apart changes nothing but where its last field is.
TEST(Message, IsTheSameWhenItIsTakenApart) {
  for (const message& m : samples()) {
    const bytes whole = encode(m);
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      message read, taken;
      const char* const wrong = decode(std::span(whole).first(n), read);
      bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_STREQ(decode(std::move(part), taken), wrong);
      if (wrong == nullptr) { EXPECT_EQ(taken, read) << name(m.body); }
    }
  }
  message back;
  bytes large = encode({1, 2, 3, team_data{4, {bytes(10'000, std::byte{7})}}});
  const std::byte* const at = large.data();
  ASSERT_EQ(decode(std::move(large), back), nullptr);
  const auto& parts = std::get<team_data>(back.body).parts;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0], bytes(10'000, std::byte{7}));
  EXPECT_EQ(parts[0].data(), at) << "a copy was made";
}

// Whatever comes: an error, or a message that is the same when it is sent on.
TEST(Message, SurvivesGarbage) {
  random_numbers random(1);
  const auto all = samples();
  for (int i = 0; i < 200'000; ++i) {
    bytes b = encode(all[random.below(all.size())]);
    for (std::size_t changes = random.below(4) + 1; changes > 0; --changes)
      b[random.below(b.size())] = static_cast<std::byte>(random.next());
    if (random.below(4) == 0) b.resize(random.below(b.size() + 1));
    message m, again;
    if (decode(b, m) != nullptr) continue;
    ASSERT_EQ(decode(encode(m), again), nullptr);
    ASSERT_EQ(m, again);
  }
}

}  // namespace
