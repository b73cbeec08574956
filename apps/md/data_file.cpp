#include "data_file.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <limits>
#include <ostream>
#include <span>
#include <string_view>

#include "support/line_reader.hpp"
#include "support/save_file.hpp"

namespace apps::md {
namespace {

constexpr int most_atoms = 100'000'000;
constexpr double most_volume = 5e8;  // the largest box: md looks for neighbours in parts of it
constexpr double farthest = 1000;  // sides of the box: an atom farther out cannot be put back well

// LAMMPS has further counts in the head of a file. Those of what md does not compute must be 0.
constexpr std::string_view absent[] = {
    "bonds",          "angles",         "dihedrals",  "impropers", "bond types", "angle types",
    "dihedral types", "improper types", "ellipsoids", "lines",     "triangles",  "bodies"};

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::string_view word : words) (text += text.empty() ? "" : " ") += word;
  return text;
}

bool begins_section(std::string_view word) { return word.front() >= 'A' && word.front() <= 'Z'; }

class data_file {
public:
  explicit data_file(const std::string& name) : file_(open_input(name)), in_(file_, name) {
    in_.next();  // a title
    if (!next()) end("the number of atoms");
    head();
    for (bool more = true; more;) more = section();
    if (!is_whole(position_)) end("a section Atoms");
    if (!is_whole(velocity_)) end("a section Velocities");
  }

  melt result() const { return {low_, high_ - low_, position_, velocity_}; }

private:
  using words = std::vector<std::string_view>;

  // Goes to the next line that has words before a '#'. False at the end.
  bool next() {
    while (in_.next()) {
      const std::string_view line = in_.text();
      words_ = split(line.substr(0, line.find('#')));
      if (!words_.empty()) return true;
    }
    return false;
  }

  [[noreturn]] void end(const std::string& expected) const {
    in_.fail(expected, "the end of the file");
  }
  [[noreturn]] void fail(const std::string& expected) const {
    in_.fail(expected, in_quotes(in_.text()));
  }
  bool is_whole(const std::vector<vec3>& table) const {
    return table.size() == static_cast<std::size_t>(atoms_);
  }
  double real(std::string_view word) const { return in_.real(word, "a number"); }
  vec3 point(std::size_t first) const {
    return {real(words_[first]), real(words_[first + 1]), real(words_[first + 2])};
  }

  // ---- the head

  void head() {
    do {
      if (begins_section(words_[0])) break;
      const words rest(words_.begin() + 1, words_.end());
      const std::string what = joined(rest);
      if (what == "atoms") {
        atoms_ = in_.number(words_[0], 1, most_atoms, "a number of atoms");
      } else if (what == "atom types") {
        in_.number(words_[0], 1, 1, "one type of atoms:");
      } else if (words_.size() == 4 && words_[3].ends_with("hi")) {
        side();
      } else if (words_.size() == 6 && joined(std::span(words_).last(3)) == "xy xz yz") {
        const vec3 tilt = point(0);
        if (tilt.x != 0 || tilt.y != 0 || tilt.z != 0) fail("a box at right angles (a tilt of 0)");
      } else if (std::find(std::begin(absent), std::end(absent), what) != std::end(absent)) {
        in_.number(words_[0], 0, 0, "no " + what + ": a number");
      } else {
        fail("atoms, atom types, xlo xhi, ylo yhi, zlo zhi or the name of a section");
      }
    } while (next());
    if (atoms_ == 0) fail("the number of atoms before");
    const vec3 size = high_ - low_;
    if (size.x == 0 || size.y == 0 || size.z == 0) fail("the box (xlo xhi and so on) before");
    if (!(size.x * size.y * size.z <= most_volume))
      fail("a box of at most 5e8 (length cubed) before");
  }
  void side() {
    const std::string ends = joined(std::span(words_).last(2));
    double vec3::*const at = ends == "xlo xhi"   ? &vec3::x
                             : ends == "ylo yhi" ? &vec3::y
                             : ends == "zlo zhi" ? &vec3::z
                                                 : nullptr;
    if (at == nullptr) fail("xlo xhi, ylo yhi or zlo zhi");
    low_.*at = real(words_[0]), high_.*at = real(words_[1]);
    if (!(high_.*at - low_.*at >= reach)) fail("a box at least 2.8 long");
  }

  // ---- the sections

  // Begins at the name of a section. False at the end of the file.
  bool section() {
    const std::string name = joined(words_);
    const std::string_view line = in_.text();
    const auto mark = line.find('#');
    const std::string comment(line.substr(mark == line.npos ? line.size() : mark + 1));
    if (name == "Atoms") atoms(split(comment));
    else if (name == "Velocities") velocities();
    else if (name == "Masses") one_line("1 1: the mass of the only type", 2, 2, {1, 1});
    else if (name == "Pair Coeffs" &&
             (split(comment).empty() || joined(split(comment)) == "lj/cut"))
      one_line("1 1 1 2.5: depth and width of the potential, and where it is cut off", 3, 4,
               {1, 1, 1, cutoff});
    else fail("Atoms, Velocities, Masses or Pair Coeffs # lj/cut");
    if (!next()) return false;
    if (!begins_section(words_[0])) fail("the name of a section");
    return true;
  }
  void one_line(const std::string& expected, std::size_t least, std::size_t most,
                const std::vector<double>& values) {
    if (!next()) end(expected);
    if (words_.size() < least || words_.size() > most) fail(expected);
    for (std::size_t i = 0; i < words_.size(); i++)
      if (real(words_[i]) != values[i]) fail(expected);
  }
  void atoms(const words& style) {
    if (!style.empty() && joined(style) != "atomic")
      in_.fail("the atom style atomic", in_quotes(joined(style)));
    std::size_t columns = 0;  // all lines have as many
    table(position_, [&] {
      if (columns == 0 && (words_.size() == 5 || words_.size() == 8)) columns = words_.size();
      if (words_.size() != columns)
        fail(
            "the line of an atom of style atomic (number, type, x, y, z and perhaps three whole "
            "numbers, on each line the same)");
      in_.number(words_[1], 1, 1, "the only type of atoms,");
      for (std::size_t i = 5; i < columns; i++)  // how often it has left the box
        in_.number(words_[i], std::numeric_limits<int>::min(), std::numeric_limits<int>::max(),
                   "a whole number");
      return inside(point(2));
    });
  }
  void velocities() {
    table(velocity_, [&] {
      if (words_.size() != 4) fail("the velocity of an atom (number, x, y, z)");
      return point(1);
    });
  }
  // A line for each atom, which begins with its number.
  template <class Row>
  void table(std::vector<vec3>& to, const Row& row) {
    if (!to.empty()) fail("each section once");
    std::vector<bool> known(static_cast<std::size_t>(atoms_));
    std::vector<int> number;
    std::vector<vec3> rows;  // grows as the file does, which may announce more than it holds
    while (rows.size() < known.size()) {
      if (!next()) end(std::to_string(atoms_) + " atoms, a line for each");
      const int n = in_.number(words_[0], 1, atoms_, "the number of an atom") - 1;
      if (known[n]) in_.fail("each atom once", in_quotes(words_[0]));
      known[n] = true;
      number.push_back(n), rows.push_back(row());
    }
    to.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); i++) to[number[i]] = rows[i];
  }
  // The place of an atom in a periodic box.
  vec3 inside(vec3 p) const {
    for (double vec3::*const d : {&vec3::x, &vec3::y, &vec3::z}) {
      const double low = low_.*d, size = high_.*d - low, sides = std::floor((p.*d - low) / size);
      if (!(std::abs(sides) <= farthest)) fail("an atom at most 1000 boxes away from the box");
      p.*d -= size * sides;
    }
    return p;
  }

  std::ifstream file_;
  line_reader in_;
  words words_;  // the words of the current line
  int atoms_ = 0;
  vec3 low_, high_;
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
