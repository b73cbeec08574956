#include "molecules_trial.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "molecules.hpp"
#include "nodes_run.hpp"

namespace apps::md {
namespace {

using states = std::vector<molecular_state>;

// One column of what LAMMPS prints.
struct column {
  const char *title, *name;  // for people; in JSON
  double (*of)(const molecular_state&);
};
constexpr column columns[] = {
    {"Temp", "temperature", [](const molecular_state& s) { return s.temperature; }},
    {"E_vdwl", "vdwl", [](const molecular_state& s) { return s.lj; }},
    {"E_coul", "coul", [](const molecular_state& s) { return s.coulomb; }},
    {"E_bond", "bond", [](const molecular_state& s) { return s.bonded[lammps::bonds]; }},
    {"E_angle", "angle", [](const molecular_state& s) { return s.bonded[lammps::angles]; }},
    {"E_dihed", "dihedral", [](const molecular_state& s) { return s.bonded[lammps::dihedrals]; }},
    {"E_impro", "improper", [](const molecular_state& s) { return s.bonded[lammps::impropers]; }},
    {"PotEng", "potential", [](const molecular_state& s) { return s.potential; }},
    {"TotEng", "total", [](const molecular_state& s) { return s.total; }},
    {"Press", "pressure", [](const molecular_state& s) { return s.pressure; }}};

// What is wrong with that, if anything is.
std::string fault(const molecular_state& s, double skin) {
  if (!std::isfinite(s.total))
    return "energies that are finite: two atoms are at one place, or a velocity is too large";
  if (s.lost_terms != 0)
    return fmt::format("all bonded atoms near each other: at step {} {} terms are not", s.step,
                       s.lost_terms);
  if (s.farthest > skin / 2)
    return fmt::format(
        "atoms that come at most half the skin far from one list of neighbours to the next: at "
        "step "
        "{} one had come {:.3f} (neigh_modify every, neighbor)",
        s.step, s.farthest);
  return {};
}

answer report(const states& found, double skin) {
  answer a;
  a.text = fmt::format("{:>8}", "Step");
  for (const column& c : columns) a.text += fmt::format(" {:>16}", c.title);
  std::vector<int> steps;
  for (const molecular_state& s : found) {
    a.text += fmt::format("\n{:>21}", s.step);
    for (const column& c : columns) a.text += fmt::format(" {:>16.10g}", c.of(s));
    steps.push_back(s.step);
    if (a.wrong.empty()) a.wrong = fault(s, skin);
  }
  a.main = found.back().total;
  a.more = {{"steps", steps}};
  for (const column& c : columns) {
    std::vector<double> values;
    for (const molecular_state& s : found) values.push_back(c.of(s));
    a.more.emplace_back(c.name, values);
  }
  return a;
}

}  // namespace

trial molecules_trial_of(lammps::system s, const run_options& how) {
  molecules atoms(std::move(s));
  const double listed_beyond = atoms.field.skin;
  return simulation_trial(std::move(atoms), how, [listed_beyond](const states& found) {
    return report(found, listed_beyond);
  });
}

}  // namespace apps::md
