#include "sites/roster.hpp"
#include "support/command_line.hpp"

#include <gtest/gtest.h>

namespace sites {
namespace {

using namespace std::chrono_literals;

server one(const std::string& name, const std::string& program, const std::string& hash,
           unsigned workers, unsigned jobs = 0, bool leaving = false) {
  return {{{"here", name}, "serve-1"},
          {program, hash, workers, leaving, std::vector<cleave::net::nats::job_here>(jobs)}};
}

std::vector<std::string> chosen(std::vector<server> all, const std::string& program,
                                unsigned& others) {
  std::vector<std::string> names;
  for (const auto& s : choose(std::move(all), program, others)) names.push_back(s.at.at.name);
  return names;
}

TEST(roster, whoever_has_least_to_do) {
  unsigned others = 0;
  EXPECT_EQ(chosen({one("a", "queens", "1", 4, 2), one("b", "queens", "1", 2, 0),
                    one("c", "queens", "1", 4, 0), one("d", "fib", "1", 9),
                    one("e", "queens", "1", 9, 0, true)},
                   "queens", others),
            (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(others, 0u);
  EXPECT_TRUE(chosen({one("d", "fib", "1", 9)}, "queens", others).empty());
}

TEST(roster, a_machine_is_named_by_the_end_of_its_name) {
  const auto at = [](const std::string& site, const std::string& name, const std::string& program) {
    server s = one(name, program, "1", 1);
    s.at.at.site = site;
    return s;
  };
  const std::vector<server> all = {
      at("kobe", "m1", "queens"),       at("kobe.tokyo", "m1", "queens"),
      at("osaka.kobe", "m1", "queens"), at("osaka.tokyo", "m1", "fib"),
      at("osaka.nara", "m1", "queens"), at("nara", "m1", "fib")};
  const auto named = [&](const std::string& name) { return machine_named(all, "queens", name); };
  EXPECT_EQ(named("kobe.m1"), "kobe.m1");         // itself, though another one ends so
  EXPECT_EQ(named("tokyo.m1"), "kobe.tokyo.m1");  // the only one that offers the program
  EXPECT_EQ(named("nara.m1"), "nara.m1");         // it is there, and does not offer the program
  EXPECT_EQ(named("okyo.m1"), "okyo.m1");
  EXPECT_EQ(named(""), "");
  try {
    named("m1");
    ADD_FAILURE() << "there are several";
  } catch (const apps::usage_error& e) {
    EXPECT_STREQ(e.what(),
                 "--root: 'm1': expected one machine, there are kobe.m1 and "
                 "kobe.tokyo.m1 and osaka.kobe.m1 and osaka.nara.m1");
  }
}

TEST(roster, the_build_that_most_workers_have) {
  unsigned others = 0;
  EXPECT_EQ(chosen({one("a", "queens", "1", 4), one("b", "queens", "2", 3),
                    one("c", "queens", "2", 3, 5)},
                   "queens", others),
            (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(others, 1u);
}

TEST(attendance, who_is_there_and_what_was_done) {
  attendance nodes;
  const attendance::clock::time_point now{1h};
  const endpoint root{{"here", "a"}, "00000000000000aa-0"},
      member{{"here", "b"}, "00000000000000aa-7"};
  nodes.hear(now, root, {true, "", 4, 4, 0, 9});
  nodes.hear(now, member, {true, "", 2, 1, 9, 0});
  nodes.hear(now + 2s, root, {true, "", 4, 3, 1, 12});
  auto t = nodes.total(now + 2s);
  EXPECT_EQ(t.nodes, 2u);
  EXPECT_EQ(t.workers, 6u);
  EXPECT_EQ(t.computing, 4u);
  EXPECT_EQ(t.tasks, 10u);
  t = nodes.total(now + 4s);  // one is silent
  EXPECT_EQ(t.nodes, 1u);
  EXPECT_EQ(t.tasks, 10u);  // and has done what it has
  nodes.hear(now + 4s, root, {false, "", 4, 0, 1, 12});
  EXPECT_EQ(nodes.total(now + 4s).nodes, 0u);
}

TEST(attendance, one_of_many_says_seldom_that_it_is_there) {
  attendance nodes;
  const attendance::clock::time_point now{1h};
  nodes.hear(now, {{"here", "a"}, "00000000000000aa-0"}, {true, "", 1, 1, 0, 0, 5'000});
  EXPECT_EQ(nodes.total(now + 19s).nodes, 1u);
  EXPECT_EQ(nodes.total(now + 21s).nodes, 0u);
}

}  // namespace
}  // namespace sites
