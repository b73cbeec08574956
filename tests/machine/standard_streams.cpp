// Descriptors 0 to 2 that are closed when a process begins.
#include "machine/standard_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <initializer_list>

namespace {

using cleave::machine::open_standard_streams;

/// Whether it holds in a process of its own in which these are closed.
bool without(std::initializer_list<int> streams, const std::function<bool()>& holds) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int stream : streams) close(stream);
    _exit(holds() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool fails() {
  char c = 'x';
  return write(STDOUT_FILENO, &c, 1) < 0 && errno == EBADF && write(STDERR_FILENO, &c, 1) < 0 &&
         read(STDIN_FILENO, &c, 1) < 0;
}

TEST(standard_streams, that_are_closed_get_no_file) {
  EXPECT_TRUE(without({0, 1, 2}, [] {
    open_standard_streams();
    return open("/dev/null", O_RDWR) > STDERR_FILENO && fails();
  }));
  EXPECT_TRUE(without({0, 1, 2}, [] { return open("/dev/null", O_RDWR) == 0; }));
  for (const int stream : {0, 1, 2})
    EXPECT_TRUE(without({stream}, [] {
      open_standard_streams();
      return open("/dev/null", O_RDWR) > STDERR_FILENO;
    })) << stream;
}

TEST(standard_streams, that_are_open_stay_what_they_are) {
  EXPECT_TRUE(without({1}, [] {
    int ends[2];  // the reading end gets number 1
    if (pipe(ends) != 0 || ends[0] != 1) return false;
    open_standard_streams();
    return fcntl(STDOUT_FILENO, F_GETFL) == O_RDONLY && write(ends[1], "x", 1) == 1;
  }));
}

}  // namespace
