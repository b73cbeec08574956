#include "sites/roster.hpp"

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
