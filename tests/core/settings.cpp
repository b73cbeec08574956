// What a runtime reads from options, the environment and the command line, and what it says of
// mistakes.
#include "core/requests.hpp"
#include "machine/cpus.hpp"
#include "temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace cleave::tests {
namespace {

/// Sets an environment variable while it lives; null unsets it.
class variable {
public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old, had_ = true;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~variable() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }

private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

class settings : public testing::Test {
  variable workers_{"CLEAVE_WORKERS", nullptr};
  variable stack_{"CLEAVE_STACK", nullptr};
  variable check_{"CLEAVE_CHECK", nullptr};
  variable seed_{"CLEAVE_CHECK_SEED", nullptr};
};

/// A command line that may be changed.
struct command_line {
  explicit command_line(std::vector<std::string> words) : text(std::move(words)) {
    for (auto& t : text) argv.push_back(t.data());
    argv.push_back(nullptr);
    argc = static_cast<int>(text.size());
  }
  std::vector<std::string> rest() const {
    EXPECT_EQ(argv[static_cast<std::size_t>(argc)], nullptr);
    return {argv.begin(), argv.begin() + argc};
  }
  std::vector<std::string> text;
  std::vector<char*> argv;
  int argc;
};

using words = std::vector<std::string>;

TEST_F(settings, default_to_the_cpus) { EXPECT_EQ(runtime().workers(), machine::usable_cpus()); }

TEST_F(settings, options_before_environment) {
  variable workers("CLEAVE_WORKERS", "3");
  EXPECT_EQ(runtime().workers(), 3);
  EXPECT_EQ(runtime(options{.workers = 2}).workers(), 2);
}

TEST_F(settings, an_empty_variable_is_none) {
  variable workers("CLEAVE_WORKERS", "");
  EXPECT_EQ(runtime().workers(), machine::usable_cpus());
}

TEST_F(settings, command_line_before_environment) {
  variable workers("CLEAVE_WORKERS", "3");
  command_line apart({"queens", "--workers", "5", "14"}), joined({"queens", "12", "--workers=4"}),
      none({"queens"});
  EXPECT_EQ(runtime(apart.argc, apart.argv.data()).workers(), 5);
  EXPECT_EQ(apart.rest(), (words{"queens", "14"}));
  EXPECT_EQ(runtime(joined.argc, joined.argv.data()).workers(), 4);
  EXPECT_EQ(joined.rest(), (words{"queens", "12"}));
  EXPECT_EQ(runtime(none.argc, none.argv.data()).workers(), 3);
  EXPECT_EQ(none.rest(), words{"queens"});
}

TEST_F(settings, no_more_workers_than_the_owner_of_the_machine_allows) {
  variable workers("CLEAVE_WORKERS", "3"), most("CLEAVE_MOST_WORKERS", "2");
  EXPECT_EQ(runtime().workers(), 2);
  EXPECT_EQ(runtime(options{.workers = 8}).workers(), 2);
  command_line many({"queens", "--workers", "5"}), one({"queens", "--workers", "1"});
  EXPECT_EQ(runtime(many.argc, many.argv.data()).workers(), 2);
  EXPECT_EQ(runtime(one.argc, one.argv.data()).workers(), 1);
}

TEST_F(settings, other_words_are_kept) {
  command_line line({"x", "--worker", "--workersN", "-w", "--sequential", ""});
  variable workers("CLEAVE_WORKERS", "1");
  runtime rt(line.argc, line.argv.data());
  EXPECT_EQ(line.rest(), (words{"x", "--worker", "--workersN", "-w", "--sequential", ""}));
}

TEST_F(settings, a_trace_by_the_command_line) {
  const temporary_folder folder;
  const std::string file = folder.path / "t.json";
  command_line line({"x", "--trace", file, "--trace-size=1", "y"});
  {
    runtime rt(line.argc, line.argv.data());
    EXPECT_EQ(line.rest(), (words{"x", "y"}));
    EXPECT_EQ(rt.run([] { return 5; }), 5);
  }
  EXPECT_GT(std::filesystem::file_size(file), 100u);
}

TEST_F(settings, after_two_dashes_all_is_the_programs) {
  variable workers("CLEAVE_WORKERS", "1");
  command_line line({"x", "--workers", "2", "--", "--workers", "3", "--trace"});
  EXPECT_EQ(runtime(line.argc, line.argv.data()).workers(), 2);
  EXPECT_EQ(line.rest(), (words{"x", "--", "--workers", "3", "--trace"}));
}

/// A destructor has no other way to tell it.
TEST_F(settings, a_trace_that_is_lost_costs_a_line_and_the_status) {
  const temporary_folder folder;
  const std::string file = folder.path / "t.json";
  const auto lose = [&] {
    command_line line({"x", "--workers=1", "--trace", file});
    {
      runtime rt(line.argc, line.argv.data());
      std::filesystem::create_directory(file);
    }
    std::exit(0);
  };
  EXPECT_EXIT(lose(), testing::ExitedWithCode(1),
              "^cleave: /.*t.json: cannot be written: Is a directory\n$");
}

std::string as_pattern(const std::string& text) {
  std::string pattern;
  for (char c : text) pattern += std::string(c == '+' || c == '.' ? "\\" : "") + c;
  return pattern;
}

void expect_refused(const char* name, const char* value, const char* range) {
  variable v(name, value);
  const std::string line =
      std::string(name) + ": expected a whole number from " + range + ", got '" + value + "'";
  try {
    runtime rt;
    ADD_FAILURE() << name << "=" << value << " was taken";
  } catch (const std::invalid_argument& e) { EXPECT_EQ(e.what(), line); }
  command_line given({"app"});
  EXPECT_EXIT(runtime(given.argc, given.argv.data()), testing::ExitedWithCode(2),
              "^cleave: " + as_pattern(line) + "\n$");
}

TEST_F(settings, malformed_environment) {
  for (const char* bad :
       {"0", "-1", "two", "2x", " 2", "+2", "1025", "99999999999999999999", "2.0"}) {
    expect_refused("CLEAVE_WORKERS", bad, "1 to 1024");
  }
  for (const char* bad : {"0", "-1", "1G", "1048577"})
    expect_refused("CLEAVE_STACK", bad, "1 to 1048576");
  for (const char* bad : {"1000000001", "-1", "yes", "1000,7"})
    expect_refused("CLEAVE_CHECK", bad, "0 to 1000000000");
  for (const char* bad : {"0", "-1", "x"})
    expect_refused("CLEAVE_CHECK_SEED", bad, "1 to 1000000000");
  for (const char* bad : {"-1", "yes", "86401"})
    expect_refused("CLEAVE_CHECK_PROGRESS", bad, "0 to 86400");
}

TEST_F(settings, malformed_command_line) {
  const auto refused = [](words w, const char* line) {
    command_line c(std::move(w));
    EXPECT_EXIT(runtime(c.argc, c.argv.data()), testing::ExitedWithCode(2), line);
  };
  refused({"a", "--workers"}, "^cleave: --workers: expected a number after it, got nothing\n$");
  refused({"a", "--workers", "0"},
          "^cleave: --workers: expected a whole number from 1 to 1024, got '0'\n$");
  refused({"a", "--workers=x"},
          "^cleave: --workers: expected a whole number from 1 to 1024, got 'x'\n$");
  refused({"a", "--workers="}, "^cleave: --workers: expected a number after it, got nothing\n$");
  refused({"a", "--trace"}, "^cleave: --trace: expected a file after it, got nothing\n$");
  refused({"a", "--trace", "none/t.json"},
          "^cleave: none/t.json: cannot be written: No such file or directory\n$");
  refused({"a", "--trace-size", "0"},
          "^cleave: --trace-size: expected a whole number from 1 to 4096, got '0'\n$");
  refused({"a", "--workers", "1024", "--trace", "t.json", "--trace-size", "1"},
          "^cleave: t.json: expected room for a trace of at least [0-9]* bytes, got 1048576\n$");
  refused({"a", "--check"}, "^cleave: --check: expected a number after it, got nothing\n$");
  refused({"a", "--check=0"},
          "^cleave: --check: expected a whole number from 1 to 1000000000, got '0'\n$");
  refused({"a", "--check", "9", "--check-seed=x"},
          "^cleave: --check-seed: expected a whole number from 1 to 1000000000, got 'x'\n$");
  refused({"a", "--transport", "pigeon"}, "^cleave: --transport: expected mpi, .*'pigeon'\n$");
  refused({"a", "--workers=-3"},
          "^cleave: --workers: expected a whole number from 1 to 1024, got '-3'\n$");
}

TEST_F(settings, options_out_of_range) {
  EXPECT_THROW(runtime(options{.workers = -1}), std::invalid_argument);
  EXPECT_THROW(runtime(options{.workers = 1025}), std::invalid_argument);
  EXPECT_THROW(runtime(options{.check = -1}), std::invalid_argument);
  EXPECT_THROW(runtime(options{.check = 1'000'000'001}), std::invalid_argument);
}

TEST_F(settings, the_most_workers) {
#ifdef TESTS_UNDER_THREAD
  GTEST_SKIP() << "ThreadSanitizer itself wants stacks of a megabyte";
#endif
  runtime rt(options{.workers = 1024, .stack_bytes = std::size_t{256} << 10});
  EXPECT_EQ(rt.workers(), 1024);
  EXPECT_EQ(rt.run([] {
    return sum(0, 5000, [](int i) {
      poll();
      return i;
    });
  }),
            12'497'500);
}

/// Uses about `kib` of stack and tells how much of it there is.
[[gnu::noinline]] int dig(int kib) {
  volatile char block[1024];
  block[0] = 1;
  return kib == 0 ? 0 : dig(kib - 1) + block[0];
}

TEST_F(settings, the_stack_has_the_size_asked_for) {
  variable stack("CLEAVE_STACK", "16");
  EXPECT_EQ(runtime(options{.workers = 1}).run([] { return dig(10 * 1024); }), 10 * 1024);
  EXPECT_EQ(runtime(options{.workers = 1, .stack_bytes = std::size_t{32} << 20}).run([] {
    return dig(20 * 1024);
  }),
            20 * 1024);
}

TEST_F(settings, a_stack_too_small_for_a_thread_is_made_larger) {
#ifdef TESTS_UNDER_THREAD
  GTEST_SKIP() << "ThreadSanitizer itself wants stacks of a megabyte";
#endif
  runtime rt(options{.workers = 1, .stack_bytes = 1});
  EXPECT_EQ(rt.run([] { return 5; }), 5);
}

TEST_F(settings, check_by_the_environment) {
  variable check("CLEAVE_CHECK", "1");
  runtime rt;
  int calls = 0;
  rt.run([&calls] { ++calls; });
  EXPECT_EQ(calls, 2);
}

/// What a checked run says in its first line.
std::string announced(runtime& rt) {
  testing::internal::CaptureStderr();
  rt.run([] {});
  const std::string text = testing::internal::GetCapturedStderr();
  return text.substr(0, text.find(": each"));
}

TEST_F(settings, check_some_polls) {
  variable check("CLEAVE_CHECK", "1000"), seed("CLEAVE_CHECK_SEED", "77");
  runtime by_environment;
  EXPECT_EQ(announced(by_environment), "cleave: CLEAVE_CHECK=1000 CLEAVE_CHECK_SEED=77");
  command_line line({"x", "--check=50", "y", "--check-seed", "3"});
  runtime by_command_line(line.argc, line.argv.data());
  EXPECT_EQ(line.rest(), (words{"x", "y"}));
  EXPECT_EQ(announced(by_command_line), "cleave: CLEAVE_CHECK=50 CLEAVE_CHECK_SEED=3");
}

TEST_F(settings, a_seed_that_nobody_has_chosen_is_printed) {
  runtime one(options{.check = 9}), other(options{.check = 9});
  const std::string first = announced(one);
  EXPECT_EQ(first.find("cleave: CLEAVE_CHECK=9 CLEAVE_CHECK_SEED="), 0u);
  EXPECT_NE(first, announced(other));  // one time in a million
}

}  // namespace
}  // namespace cleave::tests
