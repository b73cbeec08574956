// Molecules: each force is the derivative of its energy, what few bonds join is left out, blocks
// and copies change nothing, and subtasks find what the plain program finds, bit for bit.
#include "md/molecules.hpp"

#include <gtest/gtest.h>
#include <cleave/cleave.hpp>

#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "md/md.hpp"
#include "md/sequential.hpp"
#include "temporary_folder.hpp"

namespace apps::md {
namespace {

using cleave::tests::temporary_folder;
using lammps::copies;

// ---- single terms

std::vector<vec3> some_points(int seed) {
  random_numbers next(seed);
  std::vector<vec3> points;
  for (int i = 0; i < 4; i++)
    points.push_back({1.3 * i + 0.9 * next.fraction(), 2 * next.fraction(), 2 * next.fraction()});
  return points;
}

double& coordinate(vec3& v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

// The forces of a term are what its energy changes by, and the virial is the sum of r·F.
template <class Parameters>
void expect_derivatives(const Parameters& p, int seed) {
  constexpr double step = 1e-6;
  auto at = some_points(seed);
  const places all{0, 1, 2, 3};
  std::vector<vec3> force(4), none(4);
  const term_sums sum = add_term(p, all, at, force);
  double virial = 0;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      double& x = coordinate(at[i], k);
      const double before = x;
      x = before + step;
      const double above = add_term(p, all, at, none).energy;
      x = before - step;
      const double below = add_term(p, all, at, none).energy;
      x = before;
      EXPECT_NEAR(coordinate(force[i], k), (below - above) / (2 * step), 1e-7) << i << ' ' << k;
      virial += x * coordinate(force[i], k);
    }
  EXPECT_NEAR(sum.virial, virial, 1e-10);
}

TEST(molecules, forces_of_bonded_terms_are_derivatives) {
  for (int seed = 1; seed <= 20; seed++) {
    expect_derivatives(lammps::bond_parameters{3.5, 1.2}, seed);
    expect_derivatives(lammps::angle_parameters{2.5, 1.9, 0, 0}, seed);
    expect_derivatives(lammps::angle_parameters{2.5, 1.9, 1.5, 2.1}, seed);
    for (int n = 0; n <= 6; n++)
      expect_derivatives(lammps::dihedral_parameters{1.5, n, std::cos(0.6), std::sin(0.6), 0},
                         seed);
    expect_derivatives(lammps::improper_parameters{1.5, 0}, seed);
    expect_derivatives(lammps::improper_parameters{1.5, 0.6}, seed);
  }
}

TEST(molecules, energies_of_bonded_terms_are_known) {
  // A right angle, then one more around the axis y.
  std::vector<vec3> at{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 1, 1}}, force(4);
  const places all{0, 1, 2, 3};
  const auto energy = [&](const auto& p) { return add_term(p, all, at, force).energy; };
  const double half = std::acos(0);
  EXPECT_NEAR(energy(lammps::bond_parameters{3, 0.5}), 0.75, 1e-14);
  EXPECT_NEAR(energy(lammps::angle_parameters{2, half - 1, 4, 0}), 2 + 4 * 2, 1e-14);
  EXPECT_NEAR(energy(lammps::dihedral_parameters{2, 2, 1, 0, 0}), 0, 1e-14);
  EXPECT_NEAR(energy(lammps::dihedral_parameters{2, 4, 1, 0, 0}), 4, 1e-14);
  EXPECT_NEAR(energy(lammps::dihedral_parameters{2, 1, 1, 0, 0}), 2, 1e-14);
  EXPECT_NEAR(energy(lammps::improper_parameters{2, half - 1}), 2, 1e-14);
}

TEST(molecules, pair_forces_are_derivatives) {
  lammps::pair_parameters p;
  p.inner_lj = 3, p.outer_lj = 4, p.inner_coulomb = 3.5, p.outer_coulomb = 4.5;
  const auto expect = [](const auto& between, double r, const lammps::lj_parameters& lj,
                         double charges) {
    constexpr double step = 1e-6;
    const auto energy = [&](double at) {
      const auto found = between(at * at, lj, charges);
      return found.lj + found.coulomb;
    };
    const double slope = (energy(r + step) - energy(r - step)) / (2 * step);
    EXPECT_NEAR(between(r * r, lj, charges).strength * r, -slope, 1e-9 * (10 + std::abs(slope)))
        << "distance " << r;
  };
  const lammps::lj_parameters lj{70, 16}, none;
  const pair_force<smooth_end> smooth(p);
  for (const double r : {1.1, 2.0, 2.9, 3.1, 3.6, 3.9, 4.2}) expect(smooth, r, lj, 0);
  for (const double r : {1.1, 2.0, 3.4}) expect(smooth, r, none, 1.5);
  EXPECT_EQ(smooth(4.0 * 4.0, lj, 0).strength, 0);
  EXPECT_EQ(smooth(4.5 * 4.5, none, 1).strength, 0);
  // As LAMMPS: the energy's share of what is left is the force's, too.
  const auto found = smooth(16, none, 1);
  EXPECT_NEAR(found.strength * 16, found.coulomb, 1e-15);
  EXPECT_NEAR(found.coulomb, 0.25 * smooth.coulomb_end.at(16).of_force, 1e-15);
  const pair_force<sharp_end> sharp(p);
  for (const double r : {1.1, 2.0, 3.4, 3.9, 4.2}) expect(sharp, r, lj, 1.5);
  EXPECT_EQ(sharp(4.5 * 4.5, lj, 1).strength, 0);
}

// ---- small systems

const char* const settings_text = R"(
units lj
atom_style full
pair_style lj/cut/coul/cut 2.5 3.0   # unlike any other
bond_style harmonic
angle_style charmm
dihedral_style charmm
improper_style harmonic
special_bonds lj 0 0 0.5 coul 0 0.25 &
  0.75
pair_modify mix arithmetic
pair_coeff * * 0.3 0.8
pair_coeff 1 1 0.5 1.0
bond_coeff * 50 0.9
angle_coeff 1 5 109.5 2 1.5
dihedral_coeff 1 0.5 3 60 0
improper_coeff 1 2 20
neighbor 0.4 bin
neigh_modify every 5
timestep 0.002
)";

// The settings with something else in one place.
std::string with(const std::string& from, const std::string& to,
                 std::string settings = settings_text) {
  return settings.replace(settings.find(from), from.size(), to);
}

// Molecules of five atoms, a chain of four with one beside the second, in a cube whose side is 5.
std::string data_text(int molecules = 3) {
  std::ostringstream out;
  const int n = molecules;
  out << "molecules\n\n"
      << 5 * n << " atoms\n"
      << 4 * n << " bonds\n"
      << 3 * n << " angles\n"
      << n << " dihedrals\n"
      << n << " impropers\n2 atom types\n1 bond types\n1 angle types\n"
      << "1 dihedral types\n1 improper types\n0 5 xlo xhi\n-1 4 ylo yhi\n1 6 zlo zhi\n\nMasses\n\n"
      << "1 2.0\n2 1.0\n\nAtoms # full\n\n";
  random_numbers next(5);
  std::ostringstream velocities, bonds, angles, others;
  for (int m = 0; m < n; m++) {
    const double x0 = 1.6 * m + 0.1, y0 = 1.7 * m - 0.8, z0 = 1.4 * m + 1.2;
    const double shape[5][3] = {
        {0, 0, 0}, {0.9, 0.1, 0}, {1.2, 0.9, 0.2}, {2.0, 1.1, 0.6}, {1.1, -0.4, 0.7}};
    for (int i = 0; i < 5; i++) {
      out << 5 * m + i + 1 << ' ' << m + 1 << ' ' << 1 + i % 2 << ' ' << 0.3 * i - 0.6;
      for (const double at : {x0 + shape[i][0], y0 + shape[i][1], z0 + shape[i][2]})
        out << ' ' << at + 0.05 * next.fraction();
      out << '\n';
      velocities << 5 * m + i + 1;
      for (int k = 0; k < 3; k++) velocities << ' ' << next.fraction() - 0.5;
      velocities << '\n';
    }
    const auto term = [&](std::ostringstream& to, int& count, std::initializer_list<int> atoms) {
      to << ++count << " 1";
      for (int a : atoms) to << ' ' << 5 * m + a;
      to << '\n';
    };
    int b = 4 * m, a = 3 * m, d = m, i = m;
    std::ostringstream dihedral, improper;
    term(bonds, b, {1, 2}), term(bonds, b, {2, 3}), term(bonds, b, {4, 3}), term(bonds, b, {2, 5});
    term(angles, a, {1, 2, 3}), term(angles, a, {2, 3, 4}), term(angles, a, {1, 2, 5});
    term(dihedral, d, {1, 2, 3, 4});
    term(improper, i, {2, 1, 3, 5});
    others << dihedral.str() << '|' << improper.str() << '\n';
  }
  std::string dihedrals, impropers;
  std::istringstream lines(others.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.front() == '|') impropers += line.substr(1) + '\n';
    else dihedrals += line + '\n';
  }
  out << "\nVelocities\n\n"
      << velocities.str() << "\nBonds\n\n"
      << bonds.str() << "\nAngles\n\n"
      << angles.str() << "\nDihedrals\n\n"
      << dihedrals << "\nImpropers\n\n"
      << impropers;
  return out.str();
}

molecules made(const std::string& settings, const std::string& data, const copies& by = {}) {
  const temporary_folder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder.path / name) << text;
    return (folder.path / name).string();
  };
  const auto how = lammps::read_settings(write("settings", settings));
  auto file = lammps::read_data_file(write("data", data), how);
  lammps::replicate(file, by);
  return molecules(lammps::make_system(how, file));
}

std::vector<molecular_state> plain(const molecules& m, int blocks, int steps, int every) {
  return sequential::simulation(m, grid(m, blocks)).run(steps, every);
}

// All atoms' forces.
std::vector<vec3> forces(const molecules& m, int blocks) {
  const temporary_folder folder;
  const std::string name = (folder.path / "x.lammpstrj").string();
  sequential::simulation(m, grid(m, blocks)).run(0, 1, {.trajectory = name});
  std::ifstream in(name);
  std::string line;
  for (int i = 0; i < 9; i++) std::getline(in, line);
  std::vector<vec3> found;
  double id, type, x, y, z, vx, vy, vz;
  vec3 f;
  while (in >> id >> type >> x >> y >> z >> vx >> vy >> vz >> f.x >> f.y >> f.z) found.push_back(f);
  return found;
}

void expect_near(const molecular_state& a, const molecular_state& b, double share,
                 double tolerance) {
  EXPECT_NEAR(a.temperature, b.temperature, tolerance);
  EXPECT_NEAR(share * a.lj, b.lj, tolerance);
  EXPECT_NEAR(share * a.coulomb, b.coulomb, tolerance);
  for (int k = 0; k < lammps::kinds; k++)
    EXPECT_NEAR(share * a.bonded[k], b.bonded[k], tolerance) << lammps::name_of_kind[k];
  EXPECT_NEAR(a.pressure, b.pressure, tolerance);
  EXPECT_EQ(a.lost_terms, 0);
}

TEST(molecules, forces_of_all_terms_are_derivatives) {
  constexpr double step = 1e-6;
  molecules m = made(settings_text, data_text());
  const auto force = forces(m, 1);
  ASSERT_EQ(force.size(), m.position.size());
  const auto n = static_cast<double>(m.position.size());
  for (std::size_t i = 0; i < force.size(); i++)
    for (int k = 0; k < 3; k++) {
      double& x = coordinate(m.position[i], k);
      const double before = x;
      x = before + step;
      const double above = n * plain(m, 1, 0, 1)[0].potential;
      x = before - step;
      const double below = n * plain(m, 1, 0, 1)[0].potential;
      x = before;
      double f = coordinate(const_cast<vec3&>(force[i]), k);
      EXPECT_NEAR(f, (below - above) / (2 * step), 1e-6 * (1 + std::abs(f))) << i << ' ' << k;
    }
}

TEST(molecules, blocks_and_copies_change_nothing_but_the_order_of_sums) {
  const auto once = plain(made(settings_text, data_text()), 1, 20, 10);
  const molecules twelve = made(settings_text, data_text(), {3, 2, 2});
  EXPECT_EQ(twelve.position.size(), 12 * 15u);
  for (const int blocks : {1, 2, 3}) {
    const auto found = plain(twelve, blocks, 20, 10);
    ASSERT_EQ(found.size(), once.size());
    for (std::size_t i = 0; i < found.size(); i++) {
      molecular_state same = found[i];  // with as many degrees of freedom
      same.temperature *= (3 * 180 - 3) / (12 * (3 * 15 - 3.0));
      expect_near(same, once[i], 1, 1e-8);
    }
  }
}

TEST(molecules, energy_stays) {
  auto settings = with("lj/cut/coul/cut 2.5 3.0", "lj/cut 3.5");
  settings = with("timestep 0.002", "timestep 0.0005", settings);
  const auto all = plain(made(settings, data_text()), 2, 400, 100);
  for (const auto& s : all) EXPECT_NEAR(s.total, all[0].total, 0.002);
  EXPECT_GT(std::abs(all.back().potential - all[0].potential), 0.05);
}

// Each pair by itself, of all images the nearest: what joins atoms is known by their molecules.
TEST(molecules, what_few_bonds_join_is_left_out) {
  // Charges reach from an atom to another image of the one that a few bonds join to it.
  const molecules m = made(with("2.5 3.0", "2.5 4.0"), data_text());
  const int apart[5][5] = {
      {0, 1, 2, 3, 2}, {1, 0, 1, 2, 1}, {2, 1, 0, 1, 2}, {3, 2, 1, 0, 3}, {2, 1, 2, 3, 0}};
  const double share_lj[] = {1, 0, 0, 0.5}, share_coulomb[] = {1, 0, 0.25, 0.75};
  double lj = 0, coulomb = 0;
  const int n = 15, images = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int image = 0; image < 27; image++) {
        const vec3 shift{5.0 * (image / 9 - images), 5.0 * (image / 3 % 3 - images),
                         5.0 * (image % 3 - images)};
        const vec3 d = m.position[i] - m.position[j] + shift;
        const double r = length(d);
        if (r == 0) continue;
        const bool nearest = std::abs(d.x) <= 2.5 && std::abs(d.y) <= 2.5 && std::abs(d.z) <= 2.5;
        const int bonds = i / 5 == j / 5 && nearest ? apart[i % 5][j % 5] : 0;
        const auto& p = m.field.pairs.lj[m.type[i] * 2 + m.type[j]];
        if (r < 2.5)
          lj += share_lj[bonds] / 2 * (p.r12 * std::pow(r, -12) - p.r6 * std::pow(r, -6));
        if (r < 4.0) coulomb += share_coulomb[bonds] / 2 * m.charge[i] * m.charge[j] / r;
      }
  const auto found = plain(m, 1, 0, 1)[0];
  EXPECT_NEAR(n * found.lj, lj, 1e-9 * std::abs(lj));
  EXPECT_NEAR(n * found.coulomb, coulomb, 1e-9);
  EXPECT_EQ(m.field.pairs.lj[0].r6, 4 * 0.5);
  EXPECT_NEAR(m.field.pairs.lj[3].r6, 4 * 0.3 * std::pow(0.8, 6), 1e-15);
}

TEST(molecules, one_four_pairs_of_dihedrals_have_their_weight) {
  std::string settings = settings_text;
  const auto swap = [&](const std::string& from, const std::string& to) {
    settings = with(from, to, settings);
  };
  swap("lj/cut/coul/cut 2.5 3.0", "lj/charmm/coul/charmm 2 3");
  swap("special_bonds lj 0 0 0.5 coul 0 0.25 &\n  0.75", "special_bonds charmm");
  const molecules without = made(settings, data_text());
  swap("0.5 3 60 0", "0.5 3 60 0.5");
  swap("pair_coeff 1 1 0.5 1.0", "pair_coeff 1 1 0.5 1.0 0.2 0.9");
  swap("pair_coeff * * 0.3 0.8", "pair_coeff 2 2 0.3 0.8");
  const molecules weighed = made(settings, data_text());
  const double epsilon = std::sqrt(0.2 * 0.3), sigma = (0.9 + 0.8) / 2;
  double lj = 0, coulomb = 0;
  for (int m = 0; m < 3; m++) {
    const auto nearest = [](double d) { return d - 5 * std::round(d / 5); };
    const vec3 d = weighed.position[5 * m] - weighed.position[5 * m + 3];
    const double r = length(vec3{nearest(d.x), nearest(d.y), nearest(d.z)});
    const double s6 = std::pow(sigma / r, 6);
    lj += 0.5 * 4 * epsilon * (s6 * s6 - s6);
    coulomb += 0.5 * weighed.charge[5 * m] * weighed.charge[5 * m + 3] / r;
  }
  const auto a = plain(without, 1, 0, 1)[0], b = plain(weighed, 1, 0, 1)[0];
  EXPECT_NEAR(15 * (b.coulomb - a.coulomb), coulomb, 1e-12);
  // The mixed coefficients of other pairs are not what "* *" said: compare with the same ones.
  swap("0.5 3 60 0.5", "0.5 3 60 0");
  EXPECT_NEAR(15 * (b.lj - plain(made(settings, data_text()), 1, 0, 1)[0].lj), lj, 1e-12);
}

struct simulated {
  molecules atoms;
  int blocks = 1, steps = 0, every = 1;
  bool synchronous = false;
  auto input() { return std::tie(atoms, blocks, steps, every, synchronous); }
  std::vector<molecular_state> run(cleave::team& all) const {
    cleave::team_graph g(all);
    parallel::simulation s(atoms, grid(atoms, blocks), g, all.size());
    if (synchronous) s.make_synchronous();
    return s.run(steps, every);
  }
};

TEST(molecules, subtasks_find_the_same_bit_for_bit) {
  const molecules m = made(settings_text, data_text(), {3, 2, 2});
  for (const auto& [blocks, every] : {std::pair(1, 7), std::pair(2, 5), std::pair(3, 1)}) {
    const auto expected = plain(m, blocks, 16, every);
    for (const int workers : {1, 2, 5}) {
      cleave::options o;
      o.workers = workers;
      cleave::runtime rt(o);
      for (const bool synchronous : {false, true})
        EXPECT_EQ(rt.run_on_all(simulated{m, blocks, 16, every, synchronous}), expected)
            << blocks << " blocks, every " << every << ", " << workers << " workers";
    }
  }
}

TEST(molecules, images_say_where_a_molecule_is_whole) {
  std::string data = data_text(), with_images;
  std::istringstream lines(data);
  const molecules original = made(settings_text, data);
  // Atom 1 of the second molecule, and all others of it, are told in another image.
  int n = 0;
  for (std::string line; std::getline(lines, line); with_images += line + '\n') {
    std::istringstream words(line);
    int id = 0, molecule = 0, type = 0;
    double q = 0;
    vec3 p;
    std::string rest;
    if (n < 15 && words >> id >> molecule >> type >> q >> p.x >> p.y >> p.z && !(words >> rest)) {
      n++;
      std::ostringstream out;
      out.precision(17);
      out << id << ' ' << molecule << ' ' << type << ' ' << q << ' ' << p.x - 5 << ' ' << p.y << ' '
          << p.z << " 1 0 0";
      line = out.str();
    }
  }
  ASSERT_EQ(n, 15);
  const auto a = plain(made(settings_text, data, {2, 2, 2}), 1, 0, 1)[0];
  expect_near(plain(made(settings_text, with_images, {2, 2, 2}), 1, 0, 1)[0], a, 1, 1e-10);
  // An atom whose image does not fit: a bond across the box cannot be copied.
  std::string torn = with_images;
  torn.replace(torn.find(" 1 0 0\n"), 7, " 0 0 0\n");
  try {
    made(settings_text, torn, {2, 2, 2});
    ADD_FAILURE() << "bonded atoms in different images";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("images of the bonded atoms 1 and 2"), std::string::npos)
        << e.what();
  }
  expect_near(plain(made(settings_text, torn), 1, 0, 1)[0], plain(original, 1, 0, 1)[0], 1, 1e-10);
}

}  // namespace
}  // namespace apps::md
