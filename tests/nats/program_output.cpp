// labels: once
// The output of a job that begins again: each byte is shown once, as long as it is the same.
#include "sites/program_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

class shown_output : public testing::Test {
protected:
  ~shown_output() override { close(file_); }
  std::string shown() {
    out.write();
    EXPECT_TRUE(out.is_written());
    std::string all(static_cast<std::size_t>(lseek(file_, 0, SEEK_CUR)), ' ');
    EXPECT_EQ(pread(file_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

private:
  const int file_ = memfd_create("output", MFD_CLOEXEC);

protected:
  sites::program_output out{file_};
};

TEST_F(shown_output, is_shown_as_it_comes) {
  out.add("one\n");
  EXPECT_EQ(shown(), "one\n");
  out.add("two\n");
  EXPECT_EQ(shown(), "one\ntwo\n");
  EXPECT_EQ(out.text(), "one\ntwo\n");
}

TEST_F(shown_output, of_a_job_that_begins_again_is_not_shown_twice) {
  out.add("one\ntwo\n");
  out.begin_again();
  out.add("on");
  out.add("e\n");
  EXPECT_EQ(out.text(), "one\n");
  out.add("two\nthree\n");
  EXPECT_EQ(shown(), "one\ntwo\nthree\n");
  out.begin_again();
  out.add("one\ntwo\nthree\nfour\n");
  EXPECT_EQ(shown(), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(out.text(), "one\ntwo\nthree\nfour\n");
}

TEST_F(shown_output, that_is_another_one_is_shown_whole) {
  out.add("one\ntwo\n");
  out.begin_again();
  out.add("one\n");
  testing::internal::CaptureStderr();
  out.add("three\n");
  out.add("four\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cleave: begun again, the program writes something else; all of it follows\n");
  EXPECT_EQ(shown(), "one\ntwo\none\nthree\nfour\n");
  EXPECT_EQ(out.text(), "one\nthree\nfour\n");
}

TEST_F(shown_output, that_is_too_long_cannot_begin_again) {
  const std::string part(sites::program_output::most_kept / 2, 'x');
  out.add(part);
  out.add(part);
  EXPECT_TRUE(out.is_kept());
  out.begin_again();
  out.add(part);
  out.add(part);
  out.add("y");
  EXPECT_FALSE(out.is_kept());
  EXPECT_EQ(shown(), part + part + "y");
}

TEST(output, whose_reader_rests_keeps_nobody_waiting) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  sites::program_output out(ends[1]);
  std::string all;
  while (out.has_room()) {
    const std::string part(100'000, static_cast<char>('a' + all.size() / 100'000));
    all += part;
    out.add(part), out.write(), out.write(std::chrono::milliseconds(1));
  }
  EXPECT_GE(all.size(), sites::program_output::most_unwritten);
  std::string read_here(all.size(), ' ');
  for (std::size_t done = 0; done < all.size(); out.write()) {
    const ssize_t n = read(ends[0], read_here.data() + done, all.size() - done);
    ASSERT_GT(n, 0);
    done += static_cast<std::size_t>(n);
  }
  EXPECT_TRUE(read_here == all);
  EXPECT_TRUE(out.is_written());
  close(ends[0]), close(ends[1]);
}

TEST(output, that_is_not_shown_is_kept) {
  sites::program_output out(-1);
  out.add("one\n");
  out.begin_again();
  out.add("two\n");
  EXPECT_EQ(out.text(), "two\n");
}

}  // namespace
