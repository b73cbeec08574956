// What becomes of a file that is written: of what was there before, and of what is no regular file.
#include "machine/saved_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.hpp"

namespace cleave::tests {
namespace {

namespace fs = std::filesystem;
using machine::require_writable;
using machine::saved_file;
using kind = saved_file::kind;

class saved_files : public testing::Test {
protected:
  const temporary_folder own;
  const fs::path folder = own.path;
  const std::string file = folder / "file";

  static std::string read(const fs::path& from) {
    std::ifstream in(from);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const fs::path& to, const std::string& text) { std::ofstream(to) << text; }
  static void save(const fs::path& to, const std::string& text, kind as = kind::output) {
    saved_file out(to.string(), as);
    out.write(text);
    out.keep();
  }
  /// What is said if it cannot be written; empty: it was.
  static std::string complaint(const fs::path& to, const std::string& text = "new",
                               kind as = kind::output) {
    try {
      save(to, text, as);
    } catch (const std::runtime_error& e) { return e.what(); }
    return {};
  }
  static std::string refusal(const fs::path& to) {
    try {
      require_writable(to.string());
    } catch (const std::invalid_argument& e) { return e.what(); }
    return {};
  }
  static struct stat status(const fs::path& of) {
    struct stat s {};
    EXPECT_EQ(lstat(of.c_str(), &s), 0) << of;
    return s;
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), {}); }
};

/// Whether it holds in a process of its own, of a user who may not write everywhere.
bool as_nobody(const std::vector<fs::path>& owned, const std::function<bool()>& holds) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t nobody = 65'534;
    bool is = true;
    if (geteuid() == 0) {
      for (const fs::path& p : owned) is = is && chown(p.c_str(), nobody, nobody) == 0;
      is = is && setgid(nobody) == 0 && setuid(nobody) == 0;
    }
    if (!is) _exit(2);
    _exit(holds() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(saved_files, appear_whole_or_not_at_all) {
  put(file, "old");
  {
    saved_file out(file);
    out.write(std::string(100'000, 'x'));
    EXPECT_EQ(read(file), "old");
  }
  EXPECT_EQ(read(file), "old");
  EXPECT_EQ(files(), 1);
  save(file, "new");
  EXPECT_EQ(read(file), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(saved_files, have_a_mode_by_the_umask_or_that_of_the_old_one) {
  const mode_t before = umask(027);
  save(file, "new");
  umask(before);
  EXPECT_EQ(status(file).st_mode & 0777, 0640u);
  ASSERT_EQ(chmod(file.c_str(), 0604), 0);
  save(file, "newer");
  EXPECT_EQ(status(file).st_mode & 0777, 0604u);
  save(file, "secret", kind::secret);
  EXPECT_EQ(status(file).st_mode & 0777, 0600u);
  EXPECT_EQ(files(), 1);
}

TEST_F(saved_files, keep_their_owner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  put(file, "old");
  ASSERT_EQ(chown(file.c_str(), 1234, 4321), 0);
  save(file, "new");
  EXPECT_EQ(status(file).st_uid, 1234u);
  EXPECT_EQ(status(file).st_gid, 4321u);
  EXPECT_EQ(read(file), "new");
}

TEST_F(saved_files, that_are_new_secrets_replace_nothing) {
  save(file, "seed", kind::new_secret);
  EXPECT_EQ(status(file).st_mode & 0777, 0600u);
  EXPECT_EQ(complaint(file, "another", kind::new_secret),
            file + ": cannot be written: File exists");
  EXPECT_EQ(read(file), "seed");
  { const saved_file out((folder / "given up").string(), kind::new_secret); }
  EXPECT_EQ(files(), 1);
}

TEST_F(saved_files, are_written_where_a_link_leads) {
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/second", folder / "first");
  fs::create_symlink("target", folder / "deep/second");
  EXPECT_EQ(refusal(folder / "first"), "");
  save(folder / "first", "by a link that leads to nothing");
  EXPECT_EQ(read(folder / "deep/target"), "by a link that leads to nothing");
  save(folder / "first", "again");
  EXPECT_EQ(read(folder / "deep/target"), "again");
  EXPECT_TRUE(fs::is_symlink(folder / "first") && fs::is_symlink(folder / "deep/second"));
  fs::create_symlink("loop", folder / "loop");
  const std::string loop = folder / "loop";
  EXPECT_EQ(complaint(loop), loop + ": cannot be written: Too many levels of symbolic links");
  EXPECT_EQ(refusal(loop), complaint(loop));
  EXPECT_TRUE(fs::is_symlink(loop));
}

/// A device that is always full. A node of its own, so that a mistake destroys nothing.
TEST_F(saved_files, that_are_devices_stay_devices) {
  std::string full = folder / "full";
  if (mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0) {
    if (geteuid() == 0) GTEST_SKIP() << "no device nodes here";
    full = "/dev/full";  // which another user cannot replace
  }
  EXPECT_EQ(refusal(full), "");
  EXPECT_EQ(complaint(full), full + ": cannot be written: No space left on device");
  EXPECT_TRUE(S_ISCHR(status(full).st_mode));
  const fs::path link = folder / "link";
  fs::create_symlink(full, link);
  EXPECT_EQ(complaint(link), link.string() + ": cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_symlink(link) && S_ISCHR(status(full).st_mode));
  EXPECT_EQ(complaint("/dev/null", std::string(100'000, 'x')), "");
}

TEST_F(saved_files, that_are_pipes_are_written_to_their_reader) {
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(refusal(file), "");  // without waiting for a reader
  const std::string text(300'000, 'x');
  std::string got;
  std::thread reader([&] { got = read(file); });
  EXPECT_EQ(complaint(file, text), "");
  reader.join();
  EXPECT_EQ(got, text);
  std::thread impatient([&] { std::ifstream(file).get(); });
  EXPECT_EQ(complaint(file, text), file + ": cannot be written: Broken pipe");  // and no SIGPIPE
  impatient.join();
  EXPECT_TRUE(S_ISFIFO(status(file).st_mode));
  EXPECT_EQ(files(), 1);
}

TEST_F(saved_files, that_get_too_large_leave_what_was_there) {
  put(file, "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit least{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &least);
  const std::string said = complaint(file, std::string(100'000, 'x'));  // and no SIGXFSZ
  const std::string missing = folder / "missing";
  const std::string said_of_new = complaint(missing, std::string(100'000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(said, file + ": cannot be written: File too large");
  EXPECT_EQ(said_of_new, missing + ": cannot be written: File too large");
  EXPECT_EQ(read(file), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(saved_files, in_folders_that_are_none) {
  for (const std::string to : {folder / "none/file", folder / "none/"}) {
    EXPECT_NE(refusal(to), "") << to;
    EXPECT_NE(complaint(to), "") << to;
  }
  EXPECT_EQ(complaint(folder), folder.string() + ": cannot be written: Is a directory");
  EXPECT_EQ(refusal(folder), complaint(folder));
  EXPECT_EQ(refusal(""), ": cannot be written: No such file or directory");
  put(file, "a file");
  EXPECT_EQ(refusal(file + "/file"), file + "/file: cannot be written: Not a directory");
  EXPECT_EQ(complaint(file + "/file"), refusal(file + "/file"));
}

TEST_F(saved_files, in_a_folder_that_may_not_be_written) {
  put(file, "old");
  put(folder / "kept", "kept");
  ASSERT_EQ(chmod(file.c_str(), 0666), 0);
  ASSERT_EQ(chmod((folder / "kept").c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  EXPECT_TRUE(as_nobody({folder}, [&] {
    const std::string fresh = folder / "fresh", kept = folder / "kept";
    return complaint(fresh) == fresh + ": cannot be written: Permission denied" &&
           refusal(fresh) == complaint(fresh) &&
           complaint(kept) == kept + ": cannot be written: Permission denied" &&
           refusal(kept) == complaint(kept) && refusal(file).empty() && complaint(file).empty();
  }));
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(read(file), "new");
  EXPECT_EQ(read(folder / "kept"), "kept");
  EXPECT_EQ(files(), 2);
}

TEST_F(saved_files, that_may_not_be_written_are_not_replaced) {
  put(file, "old");
  ASSERT_EQ(chmod(file.c_str(), 0444), 0);
  EXPECT_TRUE(as_nobody({folder, file}, [&] { return !complaint(file).empty(); }));
  EXPECT_EQ(read(file), "old");
}

/// Opened once more, it would be written over by what is printed later.
TEST_F(saved_files, that_are_the_standard_output_go_on_with_it) {
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen(file.c_str(), "w", stdout) == nullptr) _exit(1);
    std::printf("before\n");
    std::fflush(stdout);
    save("/dev/stdout", "trace\n");
    save(file, "trace\n");
    std::printf("after\n");
    std::fflush(stdout);
    if (std::freopen((file + ".err").c_str(), "w", stderr) == nullptr) _exit(1);
    std::fprintf(stderr, "before\n");
    std::fflush(stderr);  // which a file has a buffer for
    save(file + ".err", "trace\n");
    std::fprintf(stderr, "after\n");
    std::fflush(stderr);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(file), "before\ntrace\ntrace\nafter\n");
  EXPECT_EQ(read(file + ".err"), "before\ntrace\nafter\n");
  EXPECT_EQ(files(), 2);
}

TEST_F(saved_files, leave_signals_to_those_whose_they_are) {
  sigset_t set, before, waiting;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  raise(SIGPIPE);
  save(file, "new");
  sigpending(&waiting);
  EXPECT_EQ(sigismember(&waiting, SIGPIPE), 1);
  int taken = 0;
  sigwait(&set, &taken);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(taken, SIGPIPE);
}

TEST_F(saved_files, have_names_of_any_length) {
  const fs::path longest = folder / std::string(255, 'n');
  save(longest, "new");
  EXPECT_EQ(read(longest), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(saved_files, are_not_left_half_by_an_interrupt) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    {
      saved_file out(file);
      out.write(std::string(100'000, 'x'));
      raise(SIGINT);
      out.keep();
    }
    _exit(0);  // not reached: the signal comes when all is written
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  EXPECT_EQ(fs::file_size(file), 100'000u);
  EXPECT_EQ(files(), 1);
}

TEST(report_loss, changes_the_status_zero_alone) {
  const auto ends = [](int status) {
    machine::report_loss("cleave", std::runtime_error("t.json: lost"));
    machine::report_loss("cleave", std::runtime_error("p.plan: lost"));
    std::exit(status);
  };
  EXPECT_EXIT(ends(0), testing::ExitedWithCode(1),
              "^cleave: t.json: lost\ncleave: p.plan: lost\n$");
  EXPECT_EXIT(ends(3), testing::ExitedWithCode(3), "lost");
}

}  // namespace
}  // namespace cleave::tests
