#include "nats/subjects.hpp"
#include "nats/matches.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cleave::net::nats {
namespace {

const endpoint serve{{"chiba", "m1"}, "serve-1f"}, client{{"kobe.tokyo", "m-2"}, "client-a"};

TEST(subjects, what_is_written_is_read) {
  for (const auto& [to, from] : {std::pair(serve, client), std::pair(client, serve)}) {
    for (const char* kind : {"start", "m.part"}) {
      const auto direct = read_subject(subject_to(to, from, kind));
      ASSERT_TRUE(direct);
      EXPECT_EQ(direct->to, to);
      EXPECT_EQ(direct->from, from);
      EXPECT_EQ(direct->topic, kind);
    }
    for (const char* topic : {"who", "job.00ff"}) {
      const auto all = read_subject(subject_to_all(from, topic));
      ASSERT_TRUE(all);
      EXPECT_FALSE(all->to);
      EXPECT_EQ(all->from, from);
      EXPECT_EQ(all->topic, topic);
    }
  }
}

TEST(subjects, to_and_from_in_turn) {
  EXPECT_EQ(subject_to(client, serve, "start"),
            "cleave.to.kobe.chiba.tokyo.m1.m-2.serve-1f.client-a.~.start");
  EXPECT_EQ(subject_to_all(client, "job.7"), "cleave.all.job.kobe.7.tokyo.~.m-2.~.client-a");
  EXPECT_EQ(filter_of(serve), "cleave.to.chiba.*.m1.*.serve-1f.*.>");
  EXPECT_EQ(filter_of_all("who"), "cleave.all.who.*.~.>");
  EXPECT_EQ(filter_of_all("job.>"), "cleave.all.job.*.>");
  EXPECT_EQ(pattern_to("", "kobe.tokyo"), "cleave.to.*.kobe.*.tokyo.>");
  EXPECT_EQ(pattern_to("kobe.m1", "kobe.tokyo"), "cleave.to.kobe.kobe.m1.tokyo.>");
  EXPECT_EQ(pattern_to_all("kobe"), "cleave.all.*.kobe.>");
  EXPECT_EQ(pattern_to("", ""), "cleave.to.>");
}

using tests::matches;

bool begins(const endpoint& who, const std::string& with) {
  return with.empty() || (who.text() + ".").starts_with(with + ".");
}

/// Sites of the same name in two branches, one below the other, and deeper than anybody digs.
const std::vector<std::string> sites = {"chiba",     "kobe",           "kobe.tokyo", "kobe.tokyo.a",
                                        "osaka",     "osaka.tokyo",    "kobe.osaka", "kob",
                                        "kobe.kobe", "a.b.c.d.e.f.g.h"};

TEST(subjects, patterns_name_those_below_and_nobody_beside) {
  for (const auto& to_site : sites)
    for (const auto& from_site : sites) {
      const endpoint to{{to_site, "m1"}, "p"}, from{{from_site, "m2"}, "q"};
      const std::string direct = subject_to(to, from, "start"), all = subject_to_all(from, "job.7");
      EXPECT_TRUE(matches(filter_of(to), direct));
      EXPECT_TRUE(matches(filter_of_all("job.7"), all));
      EXPECT_FALSE(matches(filter_of_all("job"), all));
      EXPECT_FALSE(matches(filter_of_all("job.8"), all));
      for (std::string whose : sites)
        for (const char* machine : {"", ".m1", ".m2"}) {
          whose += machine;
          EXPECT_EQ(matches(pattern_to(whose, ""), direct), begins(to, whose)) << whose << direct;
          EXPECT_EQ(matches(pattern_to("", whose), direct), begins(from, whose)) << whose << direct;
          EXPECT_EQ(matches(pattern_to_all(whose), all), begins(from, whose)) << whose << all;
        }
    }
}

/// What a bridge of `own` listens to goes up once, and no other message does.
TEST(subjects, whatever_leaves_a_site_matches_one_pattern) {
  for (const auto& own : sites)
    for (const auto& to_site : sites)
      for (const auto& from_site : sites) {
        const endpoint to{{to_site, "m1"}, "p"}, from{{from_site, "m2"}, "q"};
        const std::string subject = subject_to(to, from, "start");
        std::set<std::string> heard;
        for (const auto& other : sites)
          if (const auto a = apart_from(own, other + ".m1.p")) heard.insert(*a);
        int times = 0;
        for (const auto& h : heard) times += matches(pattern_to(h, own), subject);
        EXPECT_EQ(times, begins(from, own) && !begins(to, own)) << own << " " << subject;
      }
}

TEST(subjects, apart) {
  EXPECT_EQ(apart_from("kobe.tokyo", "kobe.m1.p"), "kobe.m1");
  EXPECT_EQ(apart_from("kobe.tokyo", "chiba.m1.p"), "chiba");
  EXPECT_EQ(apart_from("kobe", "kobes.m1.p"), "kobes");
  for (const char* below : {"kobe.tokyo.m1.p", "kobe.tokyo", "kobe"})
    EXPECT_FALSE(apart_from("kobe.tokyo", below)) << below;
}

TEST(subjects, others_are_not_read) {
  for (const char* other :
       {"", "cleave", "cleave.all", "cleave.to", "cleave.all.who.a.~.b", "cleave.all.~.a.~.b.~.c",
        "cleave.all.who.a.~.b.~.c.~", "cleave.to.a.d.b.e.c.f", "cleave.to.a.d.b.e.~.f.k",
        "cleave.to.a.d.b.e.c.~.k", "cleave.to.a.d..e.c.f.k", "cleave.to.a.~.b.e.c.f.k",
        "cleave.all.who.a.~.*.~.c", "else.all.who.a.~.b.~.c", "$SYS.all.who.a.~.b.~.c",
        "cleave.all.who.a.~.b c.~.d", "cleave.all.who.a.~.b.~.c."})
    EXPECT_FALSE(read_subject(other)) << other;
}

TEST(subjects, tokens) {
  EXPECT_TRUE(is_token("A-z_09"));
  for (const char* bad : {"", "a.b", "a b", "*", ">", "~", "é"}) EXPECT_FALSE(is_token(bad)) << bad;
  EXPECT_FALSE(is_token(std::string(65, 'a')));
  EXPECT_TRUE(is_site("kobe.tokyo") && is_site("kobe"));
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "a.*"}) EXPECT_FALSE(is_site(bad)) << bad;
  std::string longest = "a";
  while (longest.size() < 255) longest += ".a";
  EXPECT_TRUE(is_site(longest));
  EXPECT_FALSE(is_site(longest + ".a"));
  EXPECT_EQ(read_machine("chiba.m1"), (machine{"chiba", "m1"}));
  EXPECT_EQ(read_machine("kobe.tokyo.m1"), (machine{"kobe.tokyo", "m1"}));
  for (const char* bad : {"", "chiba", "chiba.", ".m1", "a..c"})
    EXPECT_FALSE(read_machine(bad)) << bad;
}

}  // namespace
}  // namespace cleave::net::nats
