#include "force_field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

namespace apps::lammps {
namespace {

unit_system units_of(const settings& how) {
  if (how.units == "lj") return {};
  constexpr double mvv = 48.88821291 * 48.88821291;  // kcal/mol of g/mol × (Å/fs)²
  return {0.0019872067, mvv, 68568.415, 332.06371, 1.0, 2.0, 10, false};
}

double in_radians(double degrees) { return degrees * std::numbers::pi / 180; }

// The types that a word like 3, *, 2*, *5 or 2*5 names, from 0 on: the first and the last.
std::pair<int, int> range(const statement& s, std::size_t k, int types) {
  const std::string& word = s.word(k, "a type or a range of types");
  const auto star = word.find('*');
  const auto one = [&](const std::string& digits, int otherwise) {
    return digits.empty() ? otherwise : s.where.number(digits, 1, types, "a type");
  };
  if (star == word.npos) return {one(word, 0) - 1, one(word, 0) - 1};
  return {one(word.substr(0, star), 1) - 1, one(word.substr(star + 1), types) - 1};
}

// Each type has what the last of the statements says that names it.
template <class Parameters, class Read>
std::vector<Parameters> by_type(int types, const std::string& what, const data_file& of,
                                const std::vector<const std::vector<statement>*>& from,
                                const Read& read) {
  std::vector<Parameters> to(static_cast<std::size_t>(types));
  std::vector<bool> known(to.size());
  for (const auto* statements : from)
    for (const statement& s : *statements) {
      const auto [first, last] = range(s, 0, types);
      for (int t = first; t <= last; t++) to[t] = read(s), known[t] = true;
    }
  const auto missing = std::find(known.begin(), known.end(), false);
  if (missing != known.end())
    place(of.name).fail(what + " of type " + std::to_string(missing - known.begin() + 1), "none");
  return to;
}

// ---- pairs

struct epsilon_sigma {
  double epsilon = 0, sigma = 0;
  lj_parameters parameters() const {
    const double s6 = std::pow(sigma, 6.0);
    return {4 * epsilon * s6 * s6, 4 * epsilon * s6};
  }
};

// What is given for two types, and that for the outer atoms of dihedrals.
struct given_pair {
  bool known = false;
  epsilon_sigma normal, one_four;
};

class pair_table {
public:
  pair_table(const settings& how, const data_file& of)
      : how_(how.pairs), types_(of.types), table_(static_cast<std::size_t>(types_ * types_)) {
    for (const statement& s : of.pairs) add(s, 1);
    for (const statement& s : of.mixed) add(s, 2);
    for (const statement& s : how_.coefficients) add(s, 2);
    for (int i = 0; i < types_; i++)
      if (!at(i, i).known)
        place(of.name).fail("pair coefficients of type " + std::to_string(i + 1), "none");
  }

  void fill(pair_parameters& to) const {
    for (int i = 0; i < types_; i++)
      for (int j = 0; j < types_; j++) {
        const given_pair& both = at(std::min(i, j), std::max(i, j));
        const given_pair &a = at(i, i), &b = at(j, j);
        to.lj.push_back((both.known ? both.normal : mixed(a.normal, b.normal)).parameters());
        to.one_four.push_back(
            (both.known ? both.one_four : mixed(a.one_four, b.one_four)).parameters());
      }
  }

private:
  given_pair& at(int i, int j) { return table_[i * types_ + j]; }
  const given_pair& at(int i, int j) const { return table_[i * types_ + j]; }

  // `named`: how many types the statement names.
  void add(const statement& s, std::size_t named) {
    const auto first = range(s, 0, types_), second = named == 2 ? range(s, 1, types_) : first;
    given_pair p{true, numbers(s, named), {}};
    p.one_four = p.normal;
    if (how_.style == pair_style::lj_charmm_coul_charmm) {
      if (s.words.size() > named + 2) p.one_four = numbers(s, named + 2);
      s.ends_at(named + 4);
    } else {
      same_distance(s, named + 2, how_.outer_lj);
      same_distance(s, named + 3, how_.outer_coulomb);
      s.ends_at(named + 4);
    }
    bool any = false;
    for (int i = first.first; i <= first.second; i++)
      for (int j = std::max(i, second.first); j <= second.second; j++) {
        if (named == 1 && i != j) continue;
        at(i, j) = p, any = true;
      }
    if (!any) s.fail(1, "a second type that is not below the first one");
  }
  static epsilon_sigma numbers(const statement& s, std::size_t k) {
    return {s.real(k, "an energy"), s.not_negative(k + 1, "a distance")};
  }
  static void same_distance(const statement& s, std::size_t k, double of_all) {
    if (s.words.size() > k && s.real(k, "a distance") != of_all)
      s.fail(k, "the distance that pair_style cuts off at");
  }
  epsilon_sigma mixed(const epsilon_sigma& a, const epsilon_sigma& b) const {
    const bool arithmetic =
        how_.arithmetic.value_or(how_.style == pair_style::lj_charmm_coul_charmm);
    return {std::sqrt(a.epsilon * b.epsilon),
            arithmetic ? (a.sigma + b.sigma) / 2 : std::sqrt(a.sigma * b.sigma)};
  }

  const pair_settings& how_;
  int types_;
  std::vector<given_pair> table_;
};

pair_parameters pairs_of(const settings& how, const data_file& of) {
  const pair_settings& p = how.pairs;
  if (p.style == pair_style::none) place(how.name).fail("a pair_style", "none");
  pair_parameters to{p.style, p.inner_lj, p.outer_lj, p.inner_coulomb, p.outer_coulomb, 0, {}, {}};
  if (p.style != pair_style::lj_cut) to.coulomb = units_of(how).coulomb / how.dielectric;
  pair_table(how, of).fill(to);
  return to;
}

// ---- bonded terms

bond_parameters bond(const statement& s) {
  s.ends_at(3);
  return {s.real(1, "an energy / distance²"), s.not_negative(2, "a length")};
}

angle_parameters angle(const statement& s, bool charmm) {
  s.ends_at(charmm ? 5 : 3);
  angle_parameters a{s.real(1, "an energy"), in_radians(s.real(2, "an angle")), 0, 0};
  if (charmm)
    a.k13 = s.real(3, "an energy / distance²"), a.length13 = s.not_negative(4, "a length");
  return a;
}

constexpr int most_folds = 100;

dihedral_parameters dihedral(const statement& s, bool charmm, const settings& how) {
  s.ends_at(charmm ? 5 : 4);
  dihedral_parameters d;
  d.k = s.real(1, "an energy");
  if (charmm) {
    d.n = s.number(2, 0, most_folds, "a multiplicity");
    const double shift = in_radians(s.number(3, -360, 360, "a shift in degrees,"));
    d.cos_shift = std::cos(shift), d.sin_shift = std::sin(shift);
    d.weight = s.not_negative(4, "a weight");
    if (d.weight > 1) s.fail(4, "a weight of at most 1");
    if (d.weight > 0 && how.pairs.style != pair_style::lj_charmm_coul_charmm)
      s.fail(4, "a weight of 0, or pair_style lj/charmm/coul/charmm");
    if (d.weight > 0 && (how.special_lj[3] != 0 || how.special_coulomb[3] != 0))
      s.fail(4, "a weight of 0, or special_bonds charmm");
  } else {
    d.cos_shift = s.number(2, -1, 1, "a sign");
    if (d.cos_shift == 0) s.fail(2, "1 or -1");
    d.n = s.number(3, 0, most_folds, "a multiplicity");
  }
  return d;
}

improper_parameters improper(const statement& s) {
  s.ends_at(3);
  return {s.real(1, "an energy"), in_radians(s.real(2, "an angle"))};
}

}  // namespace

force_field force_field_of(const settings& how, const data_file& of) {
  force_field f;
  f.units = units_of(how);
  f.types = of.types;
  f.time_step = how.time_step.value_or(f.units.time_step);
  f.skin = how.skin.value_or(f.units.skin);
  f.relist = how.relist.value_or(f.units.relist);
  f.special_lj = how.special_lj, f.special_coulomb = how.special_coulomb;
  f.pairs = pairs_of(how, of);
  f.mass =
      by_type<double>(of.types, "a mass", of, {&of.masses, &how.masses}, [](const statement& s) {
        s.ends_at(2);
        return s.positive(1, "a mass");
      });
  const auto charmm = [&](kind k) { return how.bonded[k].style == "charmm"; };
  const auto fill = [&](auto& to, kind k, const auto& read) {
    const std::string name = name_of_kind[k];
    if (how.bonded[k].style.empty()) {
      if (!of.terms[k].empty()) place(how.name).fail("a " + name + "_style", "none");
      return;
    }
    to = by_type<typename std::decay_t<decltype(to)>::value_type>(
        of.types_of[k], name + " coefficients", of,
        {&of.coefficients[k], &how.bonded[k].coefficients}, read);
  };
  fill(f.bond, bonds, bond);
  fill(f.angle, angles, [&](const statement& s) { return angle(s, charmm(angles)); });
  fill(f.dihedral, dihedrals,
       [&](const statement& s) { return dihedral(s, charmm(dihedrals), how); });
  fill(f.improper, impropers, improper);
  return f;
}

}  // namespace apps::lammps
