// Which files may be executed as parts of a program.
#include "machine/trusted.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "temporary_folder.hpp"

namespace cleave::tests {
namespace {

namespace fs = std::filesystem;

class trusted : public testing::Test {
protected:
  const temporary_folder own;
  const fs::path folder = own.path / "plugins";
  const fs::path file = folder / "plugin.so";

  trusted() {
    fs::create_directory(folder);
    std::ofstream(file) << "code";
    set(folder, 0755), set(file, 0644);
  }
  static void set(const fs::path& of, mode_t mode) { EXPECT_EQ(chmod(of.c_str(), mode), 0); }
  std::string why_not() const { return machine::why_not_trusted(file.string()); }
};

TEST_F(trusted, is_what_others_cannot_change) {
  EXPECT_EQ(why_not(), "");
  const fs::path link = own.path / "link.so";
  fs::create_symlink(file, link);
  EXPECT_EQ(machine::why_not_trusted(link.string()), "");
  set(folder, 0777);
  EXPECT_EQ(why_not(), "others may write to " + folder.string() + " (chmod go-w)");
  EXPECT_EQ(machine::why_not_trusted(link.string()), why_not());
  set(folder, 0755), set(file, 0646);
  EXPECT_EQ(why_not(), "others may write to " + file.string() + " (chmod go-w)");
  set(file, 0644);
  EXPECT_NE(machine::why_not_trusted((folder / "missing.so").string()), "");
}

TEST_F(trusted, is_not_what_a_group_can_change) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  set(file, 0664);
  EXPECT_EQ(why_not(), "");  // the group of the owner's own number
  ASSERT_EQ(chown(file.c_str(), 0, 1234), 0);
  EXPECT_EQ(why_not(), "others may write to " + file.string() + " (chmod go-w)");
}

TEST_F(trusted, is_not_another_users) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown(file.c_str(), 1234, 0), 0);
  EXPECT_EQ(why_not(), file.string() + " is another user's");
  ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  ASSERT_EQ(chown(folder.c_str(), 1234, 0), 0);
  EXPECT_EQ(why_not(), folder.string() + " is another user's");
}

TEST(mapped_file, is_the_one_that_the_code_comes_from) {
  static const char here = 0;
  EXPECT_EQ(machine::mapped_file(&here), fs::read_symlink("/proc/self/exe"));
  const std::string of_c = machine::mapped_file(stdout);
  EXPECT_NE(of_c.find("/libc"), std::string::npos) << of_c;
  const int on_the_stack = 0;
  EXPECT_EQ(machine::mapped_file(&on_the_stack), "");
}

}  // namespace
}  // namespace cleave::tests
