// demo: the main job. Three searches, each by the plain sequential program, by one worker and by
// all workers.
#include <unistd.h>

#include <algorithm>
#include <cleave/runtime.hpp>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "../clique/generators.hpp"
#include "../clique/save.hpp"
#include "../clique/trial.hpp"
#include "../common/driver.hpp"
#include "../pentomino/trial.hpp"
#include "../queens/trial.hpp"

namespace {

// A graph that clique reads from a file, as it would read any other. The file is gone as soon as it
// was read, so that Ctrl-C leaves none.
class graph_file {
public:
  graph_file() { apps::clique::save_dimacs(apps::clique::generate(name).value(), path_, name); }
  ~graph_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }
  static constexpr const char* name = "random:200:80:1";  // 200 vertices, 80 % of all edges
  static constexpr int answer = 25;
  static constexpr const char* short_name = "200 at 80%";

private:
  std::string path_ =
      std::filesystem::temp_directory_path() / ("cleave-demo-" + std::to_string(getpid()) + ".clq");
};

struct program {
  std::string name;
  apps::trial run;
};

// The answer without the clique's vertices and the like.
std::string in_words(const apps::answer& found) {
  return found.text.substr(0, found.text.find_first_of(",:;"));
}

constexpr int repeats = 3;

apps::outcome median_run(const apps::trial& run, cleave::runtime* workers) {
  std::vector<apps::outcome> runs;
  for (int i = 0; i < repeats; i++) runs.push_back(run(workers));
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.cost.seconds < b.cost.seconds; });
  return runs[repeats / 2];
}

void progress(const std::string& text) {
  static const bool shown = isatty(STDERR_FILENO) != 0;
  if (shown) std::fprintf(stderr, "\r\033[K%s", text.c_str()), std::fflush(stderr);
}

bool show(const program& p, cleave::runtime& one, cleave::runtime& all) {
  struct form {
    std::string who;
    cleave::runtime* workers;
  };
  std::vector<form> forms = {{"sequential", nullptr}, {"1 worker", &one}};
  if (all.workers() > 1) forms.push_back({std::to_string(all.workers()) + " workers", &all});
  double sequential = 0;
  bool all_right = true;
  for (const auto& [who, workers] : forms) {
    progress(p.name + ", " + who + " ...");
    const auto [cost, found] = median_run(p.run, workers);
    progress("");
    if (workers == nullptr) sequential = cost.seconds;
    const bool right = found.wrong.empty();
    all_right &= right;
    const std::string answer = in_words(found) + (right ? "" : ", WRONG");
    const std::string splits = workers ? std::to_string(cost.splits) : "-";
    std::printf("%-17s  %-10s  %-16s  %7.3f  %6.3f  %6s  %7.3f\n", workers ? "" : p.name.c_str(),
                who.c_str(), answer.c_str(), cost.seconds, cost.seconds / sequential,
                splits.c_str(), cost.cpu_seconds);
    std::fflush(stdout);
  }
  return all_right;
}

}  // namespace

int main(int argc, char** argv) try {
  apps::command_line line("demo",
                          "Three searches, each by the plain sequential program, by one worker and "
                          "by all workers.");
  line.parse(argc, argv);
  cleave::options single;
  single.workers = 1;
  cleave::runtime one(single), all;
  const auto graph = apps::clique::load(graph_file().path());
  const std::vector<program> programs = {{"pentomino 6 x 10", apps::pentomino::default_trial()},
                                         {"queens 14", apps::queens::trial_of(14)},
                                         {"clique " + std::string(graph_file::short_name),
                                          apps::clique::trial_of(graph, graph_file::answer, 0)}};

  std::printf("%-17s  %-10s  %-16s  %7s  %6s  %6s  %7s\n", "program", "run by", "answer", "seconds",
              "ratio", "splits", "CPU s");
  std::fflush(stdout);
  bool right = true;
  for (const program& p : programs) right &= show(p, one, all);
  std::printf(
      "\nEach answer is checked. Of %d runs, the one with the median time; ratio: to the time of\n"
      "the plain sequential program. A split is a part of the work given to an idle worker.\n"
      "The clique search visits more or fewer nodes, as workers share the best clique so far.\n",
      repeats);
  return right ? 0 : 1;
} catch (...) { return apps::failed("demo"); }
