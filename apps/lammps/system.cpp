#include "system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace apps::lammps {
namespace {

lists<int> by_atom(const std::vector<term>& terms, int atoms_of_each, std::size_t atoms) {
  lists<int> to;
  to.first.assign(atoms + 1, 0);
  const auto for_all = [&](const auto& f) {
    for (std::size_t t = 0; t < terms.size(); t++)
      for (int k = 0; k < atoms_of_each; k++) f(terms[t].atom[k], static_cast<int>(t));
  };
  for_all([&](int atom, int) { to.first[atom + 1]++; });
  for (std::size_t i = 0; i < atoms; i++) to.first[i + 1] += to.first[i];
  to.item.resize(static_cast<std::size_t>(to.first.back()));
  std::vector<int> next(to.first.begin(), to.first.end() - 1);
  for_all([&](int atom, int t) { to.item[next[atom]++] = t; });
  return to;
}

// The atoms that are up to three bonds away, each at its least number of bonds.
lists<near_by_bonds> special_of(const std::vector<term>& bonds_of_all, const lists<int>& bonds_of,
                                std::size_t atoms) {
  lists<near_by_bonds> to;
  to.first.push_back(0);
  for (std::size_t i = 0; i < atoms; i++) {
    std::vector<near_by_bonds> found{{static_cast<int>(i), 0}};
    for (std::size_t next = 0; next < found.size() && found[next].bonds < 3; next++) {
      const near_by_bonds from = found[next];
      for (int t = bonds_of.first[from.atom]; t < bonds_of.first[from.atom + 1]; t++) {
        const term& bond = bonds_of_all[bonds_of.item[t]];
        const int other = bond.atom[0] == from.atom ? bond.atom[1] : bond.atom[0];
        const auto same = [&](const near_by_bonds& each) { return each.atom == other; };
        if (std::none_of(found.begin(), found.end(), same))
          found.push_back({other, from.bonds + 1});
      }
    }
    to.item.insert(to.item.end(), found.begin() + 1, found.end());
    to.first.push_back(static_cast<int>(to.item.size()));
  }
  return to;
}

vec3 times(const image& n, const vec3& size) { return {n.x * size.x, n.y * size.y, n.z * size.z}; }

// Two bonded atoms are near each other where they are, not in another image of the box.
void require_whole(const data_file& f, const std::vector<vec3>& position) {
  const auto close = [](double d, double size) { return std::abs(d) <= size / 2; };
  for (const auto& terms : f.terms)
    for (const term& t : terms) {
      const vec3 d = position[t.atom[1]] - position[t.atom[0]];
      if (!close(d.x, f.size.x) || !close(d.y, f.size.y) || !close(d.z, f.size.z))
        place(f.name).fail("images of the bonded atoms " + std::to_string(t.atom[0] + 1) + " and " +
                               std::to_string(t.atom[1] + 1) + " that fit, to replicate them",
                           "atoms that are far apart");
    }
}

}  // namespace

void replicate(data_file& f, const copies& by) {
  const auto atoms = static_cast<std::int64_t>(f.atoms.position.size());
  const std::int64_t count = std::int64_t{by.x} * by.y * by.z;
  if (count == 1) return;
  if (atoms * count > most_atoms)
    place(f.name).fail("copies with at most " + std::to_string(most_atoms) + " atoms",
                       std::to_string(atoms * count));
  std::vector<vec3> position = f.atoms.position;
  for (std::size_t i = 0; i < position.size(); i++) position[i] += times(f.atoms.away[i], f.size);
  require_whole(f, position);
  atoms_of_file to;
  std::array<std::vector<term>, kinds> terms;
  const vec3 size{f.size.x * by.x, f.size.y * by.y, f.size.z * by.z};
  const auto inside = [](double at, double low, double length) {
    return at - length * std::floor((at - low) / length);
  };
  // The copies have LAMMPS's order: x changes first.
  for (int copy = 0; copy < count; copy++) {
    const image of{copy % by.x, copy / by.x % by.y, copy / (by.x * by.y)};
    const vec3 shift = times(of, f.size);
    const int first = static_cast<int>(to.position.size());
    for (const vec3& at : position) {
      const vec3 p = at + shift;
      to.position.push_back({inside(p.x, f.low.x, size.x), inside(p.y, f.low.y, size.y),
                             inside(p.z, f.low.z, size.z)});
    }
    const auto append = [](auto& all, const auto& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    append(to.velocity, f.atoms.velocity), append(to.type, f.atoms.type);
    append(to.charge, f.atoms.charge);
    for (int k = 0; k < kinds; k++)
      for (term t : f.terms[k]) {
        for (int a = 0; a < atoms_of_kind[k]; a++) t.atom[a] += first;
        terms[k].push_back(t);
      }
  }
  to.away.resize(to.position.size());
  f.atoms = std::move(to), f.terms = std::move(terms), f.size = size;
}

system make_system(const settings& how, const data_file& from) {
  system s;
  s.field = force_field_of(how, from);
  s.low = from.low, s.size = from.size;
  s.position = from.atoms.position, s.velocity = from.atoms.velocity;
  s.type = from.atoms.type, s.charge = from.atoms.charge;
  s.terms = from.terms;
  for (int k = 0; k < kinds; k++)
    s.terms_of[k] = by_atom(s.terms[k], atoms_of_kind[k], s.position.size());
  s.special = special_of(s.terms[bonds], s.terms_of[bonds], s.position.size());
  const double reach = std::max(s.field.pairs.outer_lj, s.field.pairs.outer_coulomb) + s.field.skin;
  if (!(std::min({s.size.x, s.size.y, s.size.z}) >= reach))
    place(from.name).fail("a box at least as long as forces reach, with the skin", "a smaller one");
  return s;
}

}  // namespace apps::lammps
