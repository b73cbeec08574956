#include "md_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "md_findings.hpp"
#include "support/save_file.hpp"

namespace study::dynamics {
namespace {

void print_table(const measured& m) {
  fmt::print("{:<10} {:<10} {:>5}  {:<20} {:>10} {:>21} {:>10} {:>13} {:>8} {:>7}\n", "system",
             "by", "nodes", "way", "seconds", "least - most", "computing", "communicating",
             "waiting", "gain");
  for (const cell& c : m.cells) {
    const auto& seconds = c.values.at("seconds");
    const auto [least, most] = std::ranges::minmax(seconds);
    fmt::print("{:<10} {:<10} {:>5}  {:<20} {:>10.5f} {:>21} {:>10.5f} {:>13.5f} {:>8.5f} {:>7}\n",
               c.system, c.by, c.nodes, name_of(c.how), median(seconds),
               fmt::format("{:.5f} - {:.5f}", least, most), median_of(c, "computing"),
               median_of(c, "communicating"), median_of(c, "waiting"),
               c.how == way::dependences ? fmt::format("{:.3f}", gain(m, c)) : "");
  }
  fmt::print(
      "computing, communicating, waiting: the mean of all nodes; gain: times as long in "
      "synchronous steps\n");
}

}  // namespace

void command::print(const measured& m) {
  for (const system& s : m.what.systems)
    fmt::print("{}: {}, {} atoms{}\n", s.name, s.about, s.atoms,
               s.blocks > 0 ? fmt::format(", {} blocks", s.blocks) : "");
  print_table(m);
  std::string paper;
  for (const auto& f : findings_of(m)) {
    if (f.paper != paper) fmt::print("\nthe paper: {}\n", paper = f.paper);
    fmt::print("  {:<10} {}{}\n", f.system, f.here,
               f.is == finding::verdict::unknown ? "" : ": " + f.in_words());
  }
  for (const auto& f : m.failures) fmt::print("failed: {}: {}\n", f.of.name(), f.reason);
  for (const auto& line : m.missing) fmt::print("not here: {}\n", line);
  if (const auto reason = m.disturbance(); !reason.empty())
    fmt::print("DISTURBED: {}: the seconds compare nothing\n", reason);
}

void command::write(const measured& m, const std::filesystem::path& folder) {
  apps::save_file(folder / "md.json", to_json(m, true) + "\n");
  apps::save_file(folder / "md.html", page(m));
}

command::command(apps::command_line& study)
    : passes_command(
          study, "md",
          "Measure molecular dynamics by dependences and in synchronous steps, as a paper did",
          {"md.json", "md.html"}) {
  choice& what = settings_.what;
  line_.flag("--quick", what.quick, "A small liquid and one pass: some seconds");
  line_.option_list("--systems", "NAME", what.systems,
                    fmt::format("Only these, of {} (default: those of the paper, or of as many "
                                "atoms)",
                                fmt::join(all_systems, ", ")));
  line_.option("--proteins", "FOLDER", what.where.proteins,
               "Where bench/proteins.py has written bpti and lysozyme (default: nowhere)");
  line_.option("--peptide", "FILE", what.where.peptide,
               "The peptide of LAMMPS's examples (default: where Debian has it)");
  line_.option_list("--mpi", "NAME", what.mpis,
                    "Whose MPI joins ranks, of openmpi, mpich, none (default: all that are here)");
  line_.option_numbers("--ranks", what.ranks, 1, 256,
                       "How many ranks, or workers of one process (default: 1, 2, 4, ... up to the "
                       "CPUs)");
  line_.option_numbers("--nodes", what.nodes, 1, 4096,
                       "How many nodes are simulated, up to one for each block (default: 1, 2, 4, "
                       "8, 16, 32, 64, 125, 175)");
  line_.option("--network", "FILE", what.network,
               "Simulate messages over this network: the network.json of `cleave study net` "
               "(default: a good one)");
  line_.option("--transport", "NAME", what.transport,
               "Which of its networks (default: the first of Cleave's transports)");
  line_.option_number("--steps", what.steps, 1, 1'000'000, "Steps of a run (default: 20)");
  add_passes("How often all is run (default: 5; quick: 1)");
  add_output("a table");
}

}  // namespace study::dynamics
