#include "transport/launch.hpp"
#include "transport/start_watch.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::net {
namespace {

std::map<std::string, std::string> environment;

launch found_in(std::map<std::string, std::string> variables) {
  environment = std::move(variables);
  return read_launch([](const char* name) -> const char* {
    const auto it = environment.find(name);
    return it != environment.end() ? it->second.c_str() : nullptr;
  });
}

using names = std::vector<std::string>;

TEST(launch, alone) {
  for (const launch& l : {found_in({}), found_in({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}),
                          found_in({{"OMPI_MCA_btl", "self"}})}) {
    EXPECT_FALSE(l.several());
    EXPECT_EQ(l.plugins, names());
    EXPECT_EQ(l.ranks, 1);
  }
}

TEST(launch, open_mpi_4) {
  const launch l = found_in({{"OMPI_COMM_WORLD_SIZE", "6"},
                             {"OMPI_COMM_WORLD_RANK", "5"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                             {"PMIX_RANK", "5"}});
  EXPECT_TRUE(l.several());
  EXPECT_EQ(l.plugins, names({"openmpi", "openmpi5"}));
  EXPECT_EQ(l.rank, 5);
  EXPECT_EQ(l.ranks, 6);
  EXPECT_EQ(l.host_rank, 2);
  EXPECT_EQ(l.host_ranks, 3);
}

TEST(launch, open_mpi_5_says_its_version) {
  const launch l =
      found_in({{"OMPI_VERSION", "5.0.11"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}});
  EXPECT_EQ(l.plugins, names({"openmpi5", "openmpi"}));
  EXPECT_EQ(l.rank, 1);
}

TEST(launch, mpich) {
  const launch l = found_in(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}});
  EXPECT_TRUE(l.several());
  EXPECT_EQ(l.plugins, names({"mpich"}));
  EXPECT_EQ(l.rank, 1);
  EXPECT_EQ(l.ranks, 4);
  EXPECT_EQ(l.host_ranks, 2);
}

TEST(launch, slurm_with_pmix) {
  const launch l = found_in({{"SLURM_STEP_ID", "0"},
                             {"SLURM_STEP_NUM_TASKS", "8"},
                             {"SLURM_NTASKS", "16"},
                             {"SLURM_LOCALID", "1"},
                             {"PMIX_RANK", "3"}});
  EXPECT_TRUE(l.several());
  EXPECT_EQ(l.rank, 3);
  EXPECT_EQ(l.ranks, 8);
  EXPECT_EQ(l.host_rank, 1);
  EXPECT_EQ(l.host_ranks, 0);
}

TEST(launch, node_of_a_job_by_nats) {
  launch l = found_in({{"CLEAVE_JOB", "00ff"}, {"CLEAVE_NODE", "0"}, {"PMI_RANK", "3"}});
  EXPECT_TRUE(l.several());
  EXPECT_TRUE(l.comes_and_goes);
  EXPECT_EQ(l.plugins, names({"nats"}));
  EXPECT_EQ(l.rank, 0);
  l = found_in({{"CLEAVE_TRANSPORT", "nats"}, {"CLEAVE_NODE", "a0"}});
  EXPECT_TRUE(l.several());
  EXPECT_EQ(l.rank, 1);
}

TEST(launch, one_rank_is_alone) {
  EXPECT_FALSE(found_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}).several());
  EXPECT_TRUE(found_in({{"PMIX_RANK", "0"}}).several());  // nobody says how many: MPI will
}

TEST(launch, what_is_no_number_is_absent) {
  const launch l = found_in({{"PMI_RANK", "one"}, {"PMI_SIZE", "-2"}, {"MPI_LOCALNRANKS", "2x"}});
  EXPECT_EQ(l.rank, 0);
  EXPECT_EQ(l.ranks, 0);
  EXPECT_EQ(l.host_ranks, 0);
}

std::string taken(std::vector<std::string> words, names* rest = nullptr) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  const std::string name = take_transport(argc, argv.data());
  if (rest != nullptr) rest->assign(argv.data(), argv.data() + argc);
  return name;
}

TEST(launch, the_option_is_taken_out) {
  unsetenv("CLEAVE_TRANSPORT");
  names rest;
  EXPECT_EQ(taken({"queens", "--transport", "mpich", "15"}, &rest), "mpich");
  EXPECT_EQ(rest, names({"queens", "15"}));
  EXPECT_EQ(taken({"queens", "--transport=none", "15"}, &rest), "none");
  EXPECT_EQ(rest, names({"queens", "15"}));
  EXPECT_EQ(taken({"queens", "15"}), "");
  setenv("CLEAVE_TRANSPORT", "openmpi", 1);
  EXPECT_EQ(taken({"queens", "15"}), "openmpi");
  EXPECT_EQ(taken({"queens", "--transport", "none"}), "none");
  unsetenv("CLEAVE_TRANSPORT");
}

TEST(launch, other_names_are_refused) {
  EXPECT_THROW(taken({"queens", "--transport"}), std::invalid_argument);
  EXPECT_THROW(taken({"queens", "--transport="}), std::invalid_argument);
  EXPECT_THROW(taken({"queens", "--transport", "pigeon"}), std::invalid_argument);
  setenv("CLEAVE_TRANSPORT", "pigeon", 1);
  EXPECT_THROW(taken({"queens"}), std::invalid_argument);
  unsetenv("CLEAVE_TRANSPORT");
}

TEST(launch, serve_is_taken_out_wherever_it_is) {
  const auto served = [](std::vector<std::string> words, names& rest) {
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    const auto where = take_serve(argc, argv.data());
    rest.assign(argv.data(), argv.data() + argc);
    EXPECT_EQ(argv[static_cast<std::size_t>(argc)], nullptr);
    return where;
  };
  names rest;
  EXPECT_EQ(served({"queens", "--workers", "2", "--serve", "m1.cleave"}, rest), "m1.cleave");
  EXPECT_EQ(rest, names({"queens", "--workers", "2"}));
  EXPECT_EQ(served({"queens", "--serve=m1.cleave", "15"}, rest), "m1.cleave");
  EXPECT_EQ(rest, names({"queens", "15"}));
  EXPECT_EQ(served({"queens", "15", "--served"}, rest), std::nullopt);
  EXPECT_EQ(rest, names({"queens", "15", "--served"}));
  EXPECT_THROW(served({"queens", "--serve"}, rest), std::invalid_argument);
  EXPECT_THROW(served({"queens", "--serve=", "15"}, rest), std::invalid_argument);
}

TEST(launch, a_folder_that_is_named_is_the_only_one) {
  setenv("CLEAVE_PLUGINS", "/somewhere", 1);
  EXPECT_EQ(plugin_folders(), names({"/somewhere"}));
  setenv("CLEAVE_PLUGINS", "near/by", 1);
  EXPECT_EQ(plugin_folders(), names({std::filesystem::current_path() / "near/by"}));
  unsetenv("CLEAVE_PLUGINS");
  EXPECT_GE(plugin_folders().size(), 3u);
  for (const std::string& folder : plugin_folders()) EXPECT_EQ(folder.front(), '/') << folder;
}

TEST(launch, options_are_as_refused_as_the_command_line) {
  EXPECT_NO_THROW(check_transport("--transport", "openmpi5"));
  EXPECT_THROW(check_transport("--transport", "openmpi5x"), std::invalid_argument);
  EXPECT_THROW(check_transport("--transport", "none1"), std::invalid_argument);
  EXPECT_THROW(check_transport("--transport", ""), std::invalid_argument);
}

TEST(started_rank, is_what_open_mpi_s_launcher_has_left) {
  using namespace std::string_literals;
  const auto found = read_started_rank(
      "A=B\0PMIX_NAMESPACE=prterun-host-7@1\0OMPI_COMM_WORLD_LOCAL_RANK=3\0PMIX_RANK=5"s);
  EXPECT_EQ(found.job, "prterun-host-7@1");
  EXPECT_EQ(found.host_rank, 3);
  EXPECT_EQ(read_started_rank("A=B").job, "");
  EXPECT_EQ(read_started_rank("").host_rank, -1);
}

/// A process that does nothing, as that rank of a job; dead with the object.
class process_of_rank {
public:
  process_of_rank(const std::string& job, int host_rank) {
    const std::string name = "PMIX_NAMESPACE=" + job,
                      rank = "OMPI_COMM_WORLD_LOCAL_RANK=" + std::to_string(host_rank);
    char program[] = "sleep", seconds[] = "600";
    char* const arguments[] = {program, seconds, nullptr};
    char* const variables[] = {const_cast<char*>(name.c_str()), const_cast<char*>(rank.c_str()),
                               nullptr};
    int started[2];  // closed by exec, when the environment is the new one
    if (pipe2(started, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = vfork();
    if (pid_ == 0) {
      execve("/bin/sleep", arguments, variables);
      _exit(127);
    }
    close(started[1]);
    char none = 0;
    static_cast<void>(!read(started[0], &none, 1));
    close(started[0]);
  }
  ~process_of_rank() {
    kill_it();
    waitpid(pid_, nullptr, 0);
  }
  process_of_rank(const process_of_rank&) = delete;
  process_of_rank& operator=(const process_of_rank&) = delete;
  /// Nobody has waited for it yet: a zombie, as a launcher may leave it for a while.
  void kill_it() const {
    kill(pid_, SIGKILL);
    siginfo_t how{};
    waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOWAIT);
  }

private:
  pid_t pid_;
};

TEST(started_rank, that_is_gone_is_told_from_those_that_are_there) {
  const std::string job = "test-" + std::to_string(getpid());
  const process_of_rank zero(job, 0), one(job, 1), another("another-" + job, 2), two(job, 2);
  const started_rank own{job, 0};
  EXPECT_EQ(ranks_gone(own, 3), std::set<int>{});
  two.kill_it();
  EXPECT_EQ(ranks_gone(own, 3), std::set<int>{2});
  one.kill_it();
  EXPECT_EQ(ranks_gone(own, 3), (std::set{1, 2}));
  zero.kill_it();  // who asks is not seen either: nothing is known
  EXPECT_EQ(ranks_gone(own, 3), std::set<int>{});
  EXPECT_EQ(ranks_gone({}, 3), std::set<int>{});  // of another MPI
}

// A process may end between the moments in which its file is opened and read.
TEST(started_rank, is_looked_for_while_processes_end) {
  const std::string job = "test-" + std::to_string(getpid());
  const process_of_rank zero(job, 0), one(job, 1);
  std::atomic<bool> done{false};
  std::thread others([&done] {
    while (!done) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      if (child > 0) waitpid(child, nullptr, 0);
    }
  });
  for (int i = 0; i < 300; ++i) EXPECT_EQ(ranks_gone({job, 0}, 2), std::set<int>{});
  done = true;
  others.join();
}

}  // namespace
}  // namespace cleave::net
