#include "sites/control.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace cleave::net::nats {
namespace {

const std::string job = "0123456789abcdef";

const control all[] = {
    who{},
    offer{"queens", "1f", 4, true, {{job, {"18"}, "chiba.m1", true, "kyoto.m2", 17, 4, 3, 2, 1}}},
    start{job, "1f", {"18", "", "é\n\""}, 10},
    refusal{job, "it leaves"},
    beat{job, 1u << 30},
    alive{job, 7},
    cancel{job},
    part{job, 3, part::of::errors, 0, std::string("\0\xff\n{", 4)},
    part{job, 4, part::of::end, 137, ""},
    notice{job, "queens", "1f", {"18"}, false},
    start{job, "1f", {}, 10, "random"},
    notice{job, "queens", "1f", {}, false, "relay-random,8"},
};

TEST(control, what_is_written_is_read) {
  for (const control& m : all) {
    control read;
    ASSERT_EQ(decode(kind_of(m), encode(m), read), nullptr) << encode(m);
    EXPECT_EQ(read.index(), m.index());
    EXPECT_EQ(encode(read), encode(m));
  }
  control read;
  decode("part", encode(all[7]), read);
  EXPECT_EQ(std::get<part>(read).text, std::string("\0\xff\n{", 4));
  decode("jobs", encode(all[11]), read);
  EXPECT_EQ(std::get<notice>(read).ask, "relay-random,8");
}

TEST(control, what_is_not_right_is_not_read) {
  control read;
  for (const char* bad :
       {"", "{}", "[]", "7", "{\"cleave\":3}", "{\"cleave\":4,\"job\":\"0123456789abcdef\"}",
        "{\"cleave\":3,\"job\":7}", "{\"cleave\":3,\"job\":\"../../etc\"}",
        "{\"cleave\":3,\"job\":\"0123456789abcdeF\"}"})
    EXPECT_NE(decode("cancel", bad, read), nullptr) << bad;
  EXPECT_EQ(decode("cancel", "{\"cleave\":3,\"job\":\"0123456789abcdef\"}", read), nullptr);
  const auto alive_after = [&](const std::string& sent) {
    return decode("alive", "{\"cleave\":3,\"job\":\"0123456789abcdef\",\"sent\":" + sent + "}",
                  read);
  };
  EXPECT_EQ(alive_after("7"), nullptr);
  for (const char* sent : {"7.5", "9e300", "-9e300", "[7.5]"})
    EXPECT_NE(alive_after(sent), nullptr);
  EXPECT_NE(decode("cancels", encode(cancel{job}), read), nullptr);
  EXPECT_NE(
      decode("part",
             "{\"cleave\":3,\"job\":\"0123456789abcdef\",\"number\":0,\"what\":3,\"status\":0}",
             read),
      nullptr);
}

TEST(control, a_start_need_not_say_whom_to_ask) {
  control read = start{job, "1f", {}, 10, "random"};
  const std::string head =
      "{\"cleave\":3,\"job\":\"0123456789abcdef\",\"hash\":\"1f\","
      "\"arguments\":[],\"patience\":10";
  EXPECT_EQ(decode("start", head + "}", read), nullptr);
  EXPECT_EQ(std::get<start>(read).ask, "");
  EXPECT_NE(decode("start", head + ",\"ask\":7}", read), nullptr);
}

TEST(control, what_is_very_long_is_not_read) {
  control read;
  const auto of = [](std::size_t spaces) {
    std::string text(spaces, ' ');
    return text.insert(0, "{\"cleave\":3").append("}");
  };
  EXPECT_EQ(decode("who", of(1 << 20), read), nullptr);
  EXPECT_NE(decode("who", of(5 << 20), read), nullptr);
}

TEST(control, presence) {
  presence p{false, "ab", 4, 3, 2, 1, 700}, read;
  ASSERT_EQ(decode(encode(p), read), nullptr);
  EXPECT_EQ(encode(read), encode(p));
  for (const auto& [every, longest] :
       {std::pair{0u, 3'000}, {500u, 3'000}, {1'000u, 4'000}, {~0u, 600'000}}) {
    p.every = every;
    EXPECT_EQ(longest_silence(p), std::chrono::milliseconds(longest));
  }
  EXPECT_NE(decode("{\"cleave\":3}", read), nullptr);
  EXPECT_NE(decode("\xff", read), nullptr);
}

TEST(control, text_that_is_no_utf8) {
  EXPECT_THROW(encode(start{job, "1f", {"\xff"}, 10}), std::invalid_argument);
}

TEST(control, damage_is_never_more_than_a_refusal) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const control& m = all[random() % std::size(all)];
    std::string text = encode(m);
    for (unsigned k = random() % 4; k > 0; --k)
      text[random() % text.size()] = static_cast<char>(random());
    if (random() % 4 == 0) text.resize(random() % text.size());
    control read;
    if (decode(kind_of(m), text, read) == nullptr) { EXPECT_EQ(read.index(), m.index()); }
  }
}

}  // namespace
}  // namespace cleave::net::nats
