// The file that options::trace names: what Perfetto needs to open it, and how large it gets.
#include "core/requests.hpp"
#include "temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace cleave::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Every call divides at its polls, and is long enough to be stolen.
long search(int n) {
  disturb(static_cast<std::uint64_t>(n));
  if (n < 2) return n;
  auto [x, y] = both([n] { return search(n - 1); }, [n] { return search(n - 2); });
  return x + y;
}

struct traces : testing::Test {
  const temporary_folder own;
  const fs::path folder = own.path;
  const fs::path file = folder / "trace.json";

  options wanted(int workers, std::size_t bytes) const {
    return {.workers = workers, .cutoff = false, .trace = file.string(), .trace_bytes = bytes};
  }
  json read() const { return json::parse(std::ifstream(file)); }
};

// Numbers and text are taken out of it by name: what compares or prints json takes long to compile.
std::string text(const json& e, const char* name) { return e.at(name).get<std::string>(); }
int left_out(const json& trace) { return trace.at("otherData").at("spans_left_out").get<int>(); }

// Checks what a viewer relies on, and returns how many spans there are.
int check(const json& trace) {
  std::map<int, std::vector<std::string>> open;  // by worker
  std::map<std::string, int> arrows;
  double last = 0;
  int spans = 0;
  for (const json& e : trace.at("traceEvents")) {
    const std::string phase = text(e, "ph");
    if (phase == "M") continue;
    const int worker = e.at("tid").get<int>();
    const auto at = e.at("ts").get<double>();
    EXPECT_GE(at, last);
    last = at;
    if (phase == "B") {
      open[worker].push_back(text(e, "name"));
      ++spans;
    } else if (phase == "E") {
      if (open[worker].empty()) ADD_FAILURE() << "an end without a begin";
      else open[worker].pop_back();
    } else if (phase == "s") {
      ++arrows[text(e, "id")];
    } else if (phase == "f") {
      --arrows[text(e, "id")];
    } else {
      ADD_FAILURE() << e.dump();
    }
  }
  for (const auto& [worker, names] : open) EXPECT_TRUE(names.empty()) << worker;
  for (const auto& [id, n] : arrows) EXPECT_EQ(n, 0) << id;
  return spans;
}

TEST_F(traces, hold_every_task) {
  counters what;
  {
    runtime rt(wanted(3, 16 << 20));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.run([] { return search(12); }), 144);
    what = rt.statistics();
    rt.write_trace();
  }
  const json trace = read();
  EXPECT_GT(check(trace), 20);
  EXPECT_EQ(left_out(trace), 0);
  std::uint64_t made = 0, roots = 0, names = 0;
  for (const json& e : trace.at("traceEvents")) {
    if (text(e, "ph") == "B" && text(e, "name") == "task") ++(e.contains("args") ? made : roots);
    if (text(e, "ph") == "M" && text(e, "name") == "thread_name") ++names;
  }
  EXPECT_EQ(made, what.splits);
  EXPECT_EQ(roots, 20u);
  EXPECT_EQ(names, 3u);
}

TEST_F(traces, are_at_most_as_large_as_asked_for) {
  for (int workers : {1, 4}) {
    const std::size_t bytes = 64 << 10;
    {
      runtime rt(wanted(workers, bytes));
      for (int i = 0; i < 10; ++i) rt.run([] { return search(14); });
    }  // writes it
    EXPECT_LE(fs::file_size(file), bytes);
    const json trace = read();
    EXPECT_GT(check(trace), 10);
    EXPECT_GT(left_out(trace), 0);
  }
}

TEST_F(traces, hold_the_tasks_of_groups) {
  {
    runtime rt(wanted(2, 1 << 20));
    rt.run([] {
      task_group g;
      for (int i = 0; i < 50; ++i) g.spawn([] { search(5); });
      g.wait();
    });
  }
  EXPECT_GE(check(read()), 51);
}

TEST_F(traces, hold_the_names_of_subtasks) {
  {
    runtime rt(wanted(2, 1 << 20));
    rt.run([] {
      graph g;
      auto x = g.make(0);
      for (int i = 0; i < 10; ++i)
        g.run(
            "add \"one\"\n", [](int& n) { ++n; }, inout(x));
      g.run([](int& n) { ++n; }, inout(x));
      g.wait();
    });
  }
  const json trace = read();
  EXPECT_EQ(check(trace) >= 12, true);
  int named = 0;
  for (const json& e : trace.at("traceEvents"))
    if (text(e, "ph") == "B") named += text(e, "name") == "add \"one\" ";
  EXPECT_EQ(named, 10);
}

TEST_F(traces, of_a_program_that_knows_nothing_of_them) {
  ::setenv("CLEAVE_TRACE", file.c_str(), 1);
  ::setenv("CLEAVE_TRACE_SIZE", "1", 1);
  {
    runtime(options{.workers = 2}).run([] { return search(10); });
  }
  ::unsetenv("CLEAVE_TRACE");
  ::unsetenv("CLEAVE_TRACE_SIZE");
  EXPECT_GE(check(read()), 1);
  EXPECT_LE(fs::file_size(file), 1u << 20);
}

TEST_F(traces, that_cannot_be_written_are_refused_before_anything_runs) {
  for (const auto& name : {folder / "none" / "t.json", folder})
    EXPECT_THROW(runtime(options{.trace = name.string()}), std::invalid_argument) << name;
  EXPECT_THROW(runtime(wanted(100, 10'000)), std::invalid_argument);  // no room for anything
}

TEST_F(traces, that_cannot_be_written_after_all) {
  runtime rt(wanted(1, 1 << 20));
  rt.run([] {});
  fs::remove_all(folder);
  EXPECT_THROW(rt.write_trace(), std::runtime_error);
  fs::create_directories(folder);
  rt.write_trace();
  EXPECT_GE(check(read()), 1);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) files += entry.is_regular_file();
  EXPECT_EQ(files, 1);  // nothing half-written beside it
}

TEST_F(traces, time_adds_up) {
  runtime rt(options{.workers = 3, .cutoff = false, .timing = true});
  rt.run([] { return search(16); });
  const auto t = rt.spent();
  EXPECT_GT(t.elapsed, 0);
  EXPECT_GT(t.work, 0);
  EXPECT_NEAR(t.work + t.dividing + t.stealing + t.idle, 3 * t.elapsed, 0.05 * t.elapsed);
}

}  // namespace
}  // namespace cleave::tests
