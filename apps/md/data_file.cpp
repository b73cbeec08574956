#include "data_file.hpp"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <limits>
#include <ostream>
#include <string_view>

#include "../lammps/data_reader.hpp"
#include "support/save_file.hpp"

namespace apps::md {
namespace {

// LAMMPS has further counts in the head of a file. Those of what a melt does not have must be 0.
constexpr std::string_view absent[] = {
    "bonds",          "angles",         "dihedrals",  "impropers", "bond types", "angle types",
    "dihedral types", "improper types", "ellipsoids", "lines",     "triangles",  "bodies"};

class data_file : private lammps::data_reader {
public:
  explicit data_file(const std::string& name) : data_reader(name, reach) {
    read();
    if (position_.empty()) end("a section Atoms");
    if (velocity_.empty()) end("a section Velocities");
  }

  melt result() const { return {low_, high_ - low_, position_, velocity_}; }

private:
  std::string head() const override {
    return "atoms, atom types, xlo xhi, ylo yhi, zlo zhi or the name of a section";
  }
  bool count(const std::string& what) override {
    if (what == "atom types") {
      in().number(line()[0], 1, 1, "one type of atoms:");
    } else if (std::find(std::begin(absent), std::end(absent), what) != std::end(absent)) {
      in().number(line()[0], 0, 0, "no " + what + ": a number");
    } else {
      return false;
    }
    return true;
  }
  void section(const std::string& name, const std::string& comment) override {
    if (name == "Atoms") atoms(comment);
    else if (name == "Velocities") velocities();
    else if (name == "Masses") one_line("1 1: the mass of the only type", 2, 2, {1, 1});
    else if (name == "Pair Coeffs" && (comment.empty() || comment == "lj/cut"))
      one_line("1 1 1 2.5: depth and width of the potential, and where it is cut off", 3, 4,
               {1, 1, 1, cutoff});
    else fail("Atoms, Velocities, Masses or Pair Coeffs # lj/cut");
  }
  void one_line(const std::string& expected, std::size_t least, std::size_t most,
                const std::vector<double>& values) {
    if (!next()) end(expected);
    if (line().size() < least || line().size() > most) fail(expected);
    for (std::size_t i = 0; i < line().size(); i++)
      if (real(line()[i]) != values[i]) fail(expected);
  }
  void atoms(const std::string& style) {
    if (!style.empty() && style != "atomic") in().fail("the atom style atomic", in_quotes(style));
    std::size_t columns = 0;  // all lines have as many
    table(position_, [&] {
      if (columns == 0 && (line().size() == 5 || line().size() == 8)) columns = line().size();
      if (line().size() != columns)
        fail(
            "the line of an atom of style atomic (number, type, x, y, z and perhaps three whole "
            "numbers, on each line the same)");
      in().number(line()[1], 1, 1, "the only type of atoms,");
      for (std::size_t i = 5; i < columns; i++)  // how often it has left the box
        in().number(line()[i], std::numeric_limits<int>::min(), std::numeric_limits<int>::max(),
                    "a whole number");
      lammps::image away;
      return inside(point(2), away);
    });
  }
  void velocities() {
    table(velocity_, [&] {
      if (line().size() != 4) fail("the velocity of an atom (number, x, y, z)");
      return point(1);
    });
  }
  template <class Row>
  void table(std::vector<vec3>& to, const Row& row) {
    if (!to.empty()) fail("each section once");
    to = data_reader::table(atoms_, "atom", "atoms", row);
  }

  std::vector<vec3> position_, velocity_;
};

}  // namespace

melt read_data_file(const std::string& name) { return data_file(name).result(); }

void write_data_file(const melt& m, const std::string& name) {
  save_file(name, [&](std::ostream& out) {
    out << std::setprecision(std::numeric_limits<double>::max_digits10);
    const auto side = [&](double low, double size, const char* ends) {
      out << low << ' ' << low + size << ' ' << ends << '\n';
    };
    const auto table = [&](const char* title, const char* type, const std::vector<vec3>& of) {
      out << '\n' << title << "\n\n";
      for (std::size_t i = 0; i < of.size(); i++)
        out << i + 1 << type << ' ' << of[i].x << ' ' << of[i].y << ' ' << of[i].z << '\n';
    };
    out << "LAMMPS data file by Cleave's md\n\n" << m.position.size() << " atoms\n1 atom types\n\n";
    side(m.low.x, m.size.x, "xlo xhi");
    side(m.low.y, m.size.y, "ylo yhi");
    side(m.low.z, m.size.z, "zlo zhi");
    out << "\nMasses\n\n1 1\n";
    table("Atoms # atomic", " 1", m.position);
    table("Velocities", "", m.velocity);
  });
}

}  // namespace apps::md
