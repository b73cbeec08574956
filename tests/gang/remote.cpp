#include "gang/remote.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "support/command_line.hpp"

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

// What a job finds, by what its user has set.
class set_environment : public testing::Test {
protected:
  static constexpr const char* agent = "OMPI_MCA_plm_rsh_agent";
  static constexpr const char* variables[] = {agent,
                                              "PRTE_MCA_plm_ssh_agent",
                                              "HYDRA_LAUNCHER_EXEC",
                                              "CLEAVE_GANG_SHELL",
                                              "SLURM_JOB_ID",
                                              "LSB_JOBID",
                                              "PBS_JOBID",
                                              "JOB_ID",
                                              "SGE_ROOT"};
  set_environment() { clear(); }
  ~set_environment() override { clear(); }
  static void clear() {
    for (const char* const name : variables) unsetenv(name);
  }
  static std::string of(const char* name) {
    const char* const value = getenv(name);
    return value != nullptr ? value : "";
  }
  const std::string own =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cleave-gang-remote";
};

TEST_F(set_environment, keeps_the_shell_that_was_set) {
  gang::set_environment({}, "a.1", true);
  EXPECT_EQ(of("CLEAVE_GANG_SHELL"), "ssh");
  EXPECT_EQ(of(agent), own);
  clear();
  setenv(agent, "rsh -q : ssh", 1);
  for (int deep = 0; deep < 3; ++deep) {  // a job in a job, too
    gang::set_environment({}, "a.1", true);
    EXPECT_EQ(of("CLEAVE_GANG_SHELL"), "rsh -q") << deep;
    EXPECT_EQ(of(agent), own) << deep;
  }
  gang::job_settings given;
  given.remote_shell = "ssh -v";
  gang::set_environment(given, "a.1", true);
  EXPECT_EQ(of("CLEAVE_GANG_SHELL"), "ssh -v");
}

TEST_F(set_environment, leaves_launchers_to_managers) {
  for (const char* const manager : {"SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID", "JOB_ID"}) {
    clear();
    setenv(manager, "7", 1), setenv("SGE_ROOT", "/opt/sge", 1);
    gang::set_environment({}, "a.1", true);
    EXPECT_EQ(of(agent), "") << manager;
  }
  clear();
  setenv("JOB_ID", "7", 1);  // anybody's
  gang::set_environment({}, "a.1", true);
  EXPECT_EQ(of(agent), own);
}

}  // namespace
