#include <cleave/runtime.hpp>
#include <filesystem>
#include <iostream>

#include "../common/driver.hpp"
#include "generators.hpp"
#include "report.hpp"
#include "save.hpp"
#include "trial.hpp"

namespace {

using namespace apps::clique;

int write(const std::string& name, const std::string& file) {
  if (!cleave::is_first_node()) return 0;
  const auto g = generate(name);
  if (!g) {
    std::string known;
    for (const named_graph& each : named_graphs) known += std::string(each.name) + ", ";
    throw apps::usage_error("--generate: expected " + known +
                            "or random:VERTICES:PERCENT:SEED, got " + apps::in_quotes(name));
  }
  if (file.empty()) {
    write_dimacs(*g, std::cout, name);
    return std::cout.flush() ? 0 : throw std::runtime_error("cannot write to standard output");
  }
  save_dimacs(*g, file, name);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string file, wanted, to;
  int bound = 0;
  apps::driver app("clique", "Finds a largest clique of a graph by branch and bound.",
                   "clique --generate keller4 -o keller4.clq\n  clique keller4.clq --workers 2",
                   graph_format);
  app.optional_text("FILE", file, "the graph");
  app.option("--generate", "NAME", wanted,
             "Write a graph instead: keller4, hamming8-4, johnson8-4-4, MANN_a9, MANN_a27 or\n"
             "random:VERTICES:PERCENT:SEED");
  app.option("--output,-o", "FILE", to, "Where to write it (default: standard output)");
  app.option_number("--bound", bound, 0, max_vertices,
                    "Look only for cliques of more vertices than this");
  app.parse(argc, argv);
  if (!wanted.empty()) return write(wanted, to);
  if (file.empty()) throw apps::usage_error("FILE: expected the name of a graph file, got nothing");

  const std::string name = std::filesystem::path(file).stem().string();
  const graph g = load(file);
  return app.run(trial_of(g, known_size(g, name), bound));
} catch (...) { return apps::failed("clique"); }
