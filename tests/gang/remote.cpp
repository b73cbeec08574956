#include "gang/remote.hpp"

#include <gtest/gtest.h>

#include "common/command_line.hpp"

namespace {

using gang::remote_command;
using words = std::vector<std::string>;

// What the shell over there makes of the last word, it runs inside the job as the launcher meant
// it.
TEST(remote, keeps_the_launchers_command) {
  EXPECT_EQ(remote_command({"ssh", "-q"}, {"/opt/it's/cleave", "run", "--"},
                           {"-x", "b", "orted", "-mca", "'a b'"}),
            (words{"ssh", "-q", "-x", "b",
                   R"('/opt/it'\''s/cleave' 'run' '--' 'orted -mca '\''a b'\''')"}));
}

TEST(remote, knows_options_with_a_value) {
  EXPECT_EQ(remote_command({"ssh"}, {"in"}, {"-l", "alice", "-p22", "-x", "b", "true"}),
            (words{"ssh", "-l", "alice", "-p22", "-x", "b", "'in' 'true'"}));
}

TEST(remote, needs_a_host_and_a_command) {
  for (const words& wrong : {words{}, words{"-x"}, words{"b"}, words{"-l", "b", "c"}, words{"-l"}})
    EXPECT_THROW(remote_command({"ssh"}, {"in"}, wrong), apps::usage_error);
}

}  // namespace
