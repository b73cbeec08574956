#include <algorithm>
#include <charconv>
#include <cleave/runtime.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../common/planned.hpp"
#include "../lammps/system.hpp"
#include "../lammps/trajectory.hpp"
#include "data_file.hpp"
#include "molecules_trial.hpp"
#include "trial.hpp"

namespace {

// A crystal or a drop, if it is a number, else the data file of that name.
apps::md::melt start_of(const std::string& text, bool drop) {
  constexpr int least = 3, most = 200;
  int n = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (stop != text.data() + text.size()) {
    if (drop) throw apps::usage_error("--drop: expected a number as START, got '" + text + "'");
    return apps::md::read_data_file(text);
  }
  if (error == std::errc() && n >= least && n <= most)
    return drop ? apps::md::drop(n) : apps::md::lattice(n);
  throw apps::usage_error("START: expected a number from 3 to 200, or a file, got '" + text + "'");
}

// What the settings say of a data file, its box repeated as often as `copies` says.
apps::lammps::system system_of(const std::string& settings_file, const std::string& data_file,
                               const std::vector<int>& copies) {
  const auto how = apps::lammps::read_settings(settings_file);
  auto data = apps::lammps::read_data_file(data_file, how);
  if (!copies.empty()) apps::lammps::replicate(data, {copies[0], copies[1], copies[2]});
  return apps::lammps::make_system(how, data);
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace apps::md;
  run_options how{.steps = 100, .every = 0};
  std::string start, to, settings;
  std::vector<int> copies, blocks;
  bool drop = false;
  apps::driver app(
      "md",
      "Molecular dynamics of a Lennard-Jones liquid: velocity Verlet, cut off at 2.5, in a "
      "periodic\n"
      "box that is cut into blocks. Each step of a block is a subtask that waits for its "
      "neighbours\n"
      "alone. The answer is what LAMMPS prints for the same atoms: temperature, energies of an "
      "atom\n"
      "and pressure, at the beginning and the end.",
      "md 20 --steps 100 --workers 2\n  md 20 --write start.data\n  md data.peptide --settings "
      "peptide.settings",
      std::string("Over several nodes each has some of the blocks.\n") + data_file_help +
          apps::lammps::settings_help);
  app.text("START", start,
           "a number N: N x N x N cells of a crystal, 4 atoms each; or the name of a data file");
  app.flag("--drop", drop,
           "Begin with a dense drop that travels through a thin gas, in a box three times as long");
  app.option("--write", "FILE", to, "Write the atoms of the beginning to a data file instead");
  app.option("--settings", "FILE", settings,
             "Compute the molecules of a data file with the force field that this file describes");
  app.option_numbers("--replicate", copies, 1, 1000,
                     "Repeat the box of a data file with settings so often: X,Y,Z");
  app.option_number("--steps", how.steps, 0, 10'000'000,
                    "Steps of 0.005, or as the settings say (default: 100)");
  app.option_number("--every", how.every, 1, 10'000'000,
                    "Tell what is known after so many steps, too");
  app.option_numbers("--blocks", blocks, 1, 64,
                     "Blocks in each direction, at most (default: 3), or X,Y,Z");
  app.option("--trajectory", "FILE", how.told.trajectory, apps::lammps::trajectory_help);
  app.flag("--progress", how.told.progress, "Tell that on standard error while it is computed");
  app.flag("--synchronous", how.synchronous,
           "Compute in bulk-synchronous steps: all blocks compute, then all tell their neighbours");
  apps::add_plan_option(app, how.plan);
  app.option_number("--replan", how.replan, 1, 10'000'000,
                    "Look for better nodes for the blocks after so many steps, or more");
  app.flag("--dynamic", how.dynamic, "Lend what is ready to nodes that have nothing to do");
  app.parse(argc, argv);
  if (!copies.empty() && (copies.size() != 3 || settings.empty()))
    throw apps::usage_error("--replicate: expected three numbers, and --settings");
  if (blocks.empty()) blocks = {3};
  if (blocks.size() != 1 && blocks.size() != 3)
    throw apps::usage_error("--blocks: expected one number or three, got " +
                            std::to_string(blocks.size()));
  for (std::size_t d = 0; d < 3; d++) how.blocks[d] = blocks[blocks.size() == 3 ? d : 0];
  if (how.synchronous && !how.plan.empty())
    throw apps::usage_error("--synchronous: expected without --plan, got both");
  if (how.dynamic && (how.synchronous || !how.plan.empty() || how.replan != 0))
    throw apps::usage_error("--dynamic: expected without --synchronous, --plan and --replan");
  if (drop && !settings.empty())
    throw apps::usage_error("--drop: expected without --settings, got both");
  if (!to.empty() && !settings.empty())
    throw apps::usage_error("--write: expected without --settings, got both");
  if (!how.told.trajectory.empty()) apps::lammps::trajectory::require_good(how.told.trajectory);
  how.every = how.every != 0 ? how.every : std::max(how.steps, 1);
  if (!settings.empty())
    return apps::run_planned(app, molecules_trial_of(system_of(settings, start, copies), how),
                             how.plan);
  melt atoms = start_of(start, drop);
  if (to.empty()) return apps::run_planned(app, trial_of(std::move(atoms), how), how.plan);
  if (cleave::is_first_node()) write_data_file(atoms, to);
  return 0;
} catch (...) { return apps::failed("md"); }
