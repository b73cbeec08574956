// labels: once
// The output of a job that begins again: each byte is shown once, as long as it is the same.
#include "sites/program_output.hpp"

#include <gtest/gtest.h>
#include <cstdlib>

namespace {

class shown_output : public testing::Test {
protected:
  ~shown_output() override {
    std::fclose(file_);
    std::free(text_);
  }
  std::string shown() {
    std::fflush(file_);
    return {text_, size_};
  }

private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* const file_ = open_memstream(&text_, &size_);

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
  ASSERT_TRUE(out.begin_again());
  out.add("on");
  out.add("e\n");
  EXPECT_EQ(out.text(), "one\n");
  out.add("two\nthree\n");
  EXPECT_EQ(shown(), "one\ntwo\nthree\n");
  ASSERT_TRUE(out.begin_again());
  out.add("one\ntwo\nthree\nfour\n");
  EXPECT_EQ(shown(), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(out.text(), "one\ntwo\nthree\nfour\n");
}

TEST_F(shown_output, that_is_another_one_is_shown_whole) {
  out.add("one\ntwo\n");
  ASSERT_TRUE(out.begin_again());
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
  EXPECT_TRUE(out.begin_again());
  out.add(part);
  out.add(part);
  out.add("y");
  EXPECT_FALSE(out.begin_again());
  EXPECT_EQ(shown(), part + part + "y");
}

TEST(output, that_is_not_shown_is_kept) {
  sites::program_output out(nullptr);
  out.add("one\n");
  ASSERT_TRUE(out.begin_again());
  out.add("two\n");
  EXPECT_EQ(out.text(), "two\n");
}

}  // namespace
