#include "nats/subjects.hpp"

#include <gtest/gtest.h>

namespace cleave::net::nats {
namespace {

const endpoint serve{{"chiba", "m1"}, "serve-1f"}, client{{"kyoto", "m-2"}, "client-a"};

TEST(subjects, what_is_written_is_read) {
  const auto direct = read_subject(subject_to(serve, client, "start"));
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->to, serve);
  EXPECT_EQ(direct->from, client);
  EXPECT_EQ(direct->topic, "start");
  const auto all = read_subject(subject_to_all(serve, "job.00ff"));
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->to);
  EXPECT_EQ(all->from, serve);
  EXPECT_EQ(all->topic, "job.00ff");
}

TEST(subjects, as_the_permissions_of_a_machine_name_them) {
  EXPECT_EQ(subject_to(serve, client, "start"),
            "cleave.to.chiba.m1.serve-1f.kyoto.m-2.client-a.start");
  EXPECT_EQ(subject_to_all(client, "who"), "cleave.all.kyoto.m-2.client-a.who");
  EXPECT_EQ(filter_of(serve), "cleave.to.chiba.m1.serve-1f.>");
  EXPECT_EQ(filter_of_all("job.*"), "cleave.all.*.*.*.job.*");
}

TEST(subjects, others_are_not_read) {
  for (const char* other : {"", "cleave", "cleave.all.a.b.c", "cleave.to.a.b.c.d.e.f",
                            "cleave.to.a.b.c.d..f.k", "cleave.all.a.*.c.who", "else.all.a.b.c.who",
                            "$SYS.all.a.b.c.who", "cleave.all.a.b c.d.who"})
    EXPECT_FALSE(read_subject(other)) << other;
}

TEST(subjects, tokens) {
  EXPECT_TRUE(is_token("A-z_09"));
  for (const char* bad : {"", "a.b", "a b", "*", ">", "é"}) EXPECT_FALSE(is_token(bad)) << bad;
  EXPECT_FALSE(is_token(std::string(65, 'a')));
  EXPECT_EQ(read_machine("chiba.m1"), (machine{"chiba", "m1"}));
  for (const char* bad : {"", "chiba", "chiba.", ".m1", "a.b.c"})
    EXPECT_FALSE(read_machine(bad)) << bad;
}

}  // namespace
}  // namespace cleave::net::nats
