#include "md_systems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "support/command_line.hpp"

namespace study::dynamics {

const char* const peptide_settings =
    "units real\n"
    "atom_style full\n"
    "pair_style lj/charmm/coul/charmm 8.0 9.0\n"
    "bond_style harmonic\n"
    "angle_style charmm\n"
    "dihedral_style charmm\n"
    "improper_style harmonic\n"
    "special_bonds charmm\n"
    "neighbor 1.5 bin\n"
    "timestep 0.5\n"
    "neigh_modify every 10\n";

namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;

// The number of atoms that a data file tells in its first lines; 0 if it tells none.
int atoms_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  for (int k = 0; k < 20 && std::getline(in, line); ++k) {
    const auto end = line.find(" atoms"), begin = line.find_first_not_of(' ');
    int atoms = 0;
    if (end != std::string::npos && begin < end &&
        std::from_chars(line.data() + begin, line.data() + end, atoms).ec == std::errc())
      return atoms;
  }
  return 0;
}

std::string missing_file(const fs::path& file) {
  return fs::is_regular_file(file) ? "" : "no " + file.string();
}

// One system, or why it is not here.
struct found {
  system is;
  std::string missing;
};

found melt(bool quick) {
  const int n = quick ? 6 : 16;
  return {{"melt",
           fmt::format("a Lennard-Jones liquid of {} x {} x {} cells of 4 atoms", n, n, n),
           "",
           4 * n * n * n,
           0,
           {std::to_string(n)}},
          ""};
}

// The peptide so often in each direction.
found peptide(const std::string& name, const std::string& like, std::array<int, 3> copies,
              const std::string& file) {
  const auto [x, y, z] = copies;
  system s{
      name, fmt::format("the peptide in water of LAMMPS's examples, {} x {} x {} times", x, y, z),
      like, x * y * z * atoms_in(file),
      0,    {file, "--settings", "SETTINGS", "--replicate", fmt::format("{},{},{}", x, y, z)}};
  return {s, missing_file(file)};
}

found protein(const std::string& name, const std::string& like, const std::string& folder) {
  if (folder.empty()) return {{}, "no --proteins"};
  const auto data = fs::path(folder) / (name + ".data"),
             how = fs::path(folder) / (name + ".settings");
  const auto lacks = missing_file(data);
  return {{name, like + " in water", like, atoms_in(data), 0, {data, "--settings", how}},
          lacks.empty() ? missing_file(how) : lacks};
}

found system_of(const std::string& name, bool quick, const places& where) {
  if (name == "bpti") return protein(name, "BPTI", where.proteins);
  if (name == "lysozyme") return protein(name, "lysozyme", where.proteins);
  if (name == "melt") return melt(quick);
  if (quick) return peptide(name, "", {1, 1, name == "peptide" ? 1 : 2}, where.peptide);
  return name == "peptide" ? peptide(name, "BPTI", {2, 2, 2}, where.peptide)
                           : peptide(name, "lysozyme", {2, 3, 2}, where.peptide);
}

}  // namespace

std::vector<system> systems_of(const names& asked, bool quick, const places& where,
                               names& missing) {
  std::vector<system> all;
  const auto add = [&](const std::string& name) {
    auto [is, lacks] = system_of(name, quick, where);
    if (lacks.empty()) all.push_back(std::move(is));
    return lacks;
  };
  for (const auto& name : asked) {
    if (std::ranges::find(all_systems, name) == all_systems.end())
      throw apps::usage_error(fmt::format("--systems: expected some of {}, got '{}'",
                                          fmt::join(all_systems, ", "), name));
    if (const auto lacks = add(name); !lacks.empty())
      throw apps::usage_error(fmt::format("--systems: {}: {}", name, lacks));
  }
  if (!asked.empty()) return all;
  if (quick) {
    add("melt");
    return all;
  }
  for (const auto& [protein, instead] :
       {std::pair("bpti", "peptide"), std::pair("lysozyme", "peptides")}) {
    const auto lacks = add(protein);
    if (lacks.empty()) continue;
    const auto lacks_too = add(instead);
    missing.push_back(fmt::format(
        "{}: {}{}", protein, lacks,
        lacks_too.empty() ? fmt::format("; {} is measured instead", instead) : "; " + lacks_too));
  }
  if (all.empty()) add("melt");
  return all;
}

}  // namespace study::dynamics
