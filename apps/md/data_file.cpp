#include "data_file.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <limits>
#include <ostream>

#include "../common/line_reader.hpp"
#include "../common/save_file.hpp"

namespace apps::md {
namespace {

constexpr int most_atoms = 100'000'000;
constexpr double most_volume = 5e8;  // of the box: md looks for neighbours in parts of it

double real(const line_reader& in, std::string_view word, const char* what) {
  double value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || stop != word.data() + word.size() || !std::isfinite(value))
    in.fail(what, in_quotes(word));
  return value;
}

// Without what comes after '#'.
std::vector<std::string_view> words_of(const line_reader& in) {
  const std::string_view line = in.text();
  return split(line.substr(0, line.find('#')));
}

bool begins_section(std::string_view word) { return word.front() >= 'A' && word.front() <= 'Z'; }

// Where an atom is in a periodic box.
double inside(double at, double low, double size) {
  return at - size * std::floor((at - low) / size);
}

class data_file {
public:
  explicit data_file(const std::string& name) : file_(open_input(name)), in_(file_, name) {
    in_.next();  // a title
    if (!in_.next()) end("the number of atoms");
    head();
    for (std::string section = next_section(); !section.empty(); section = next_section()) {
      if (section == "Atoms") table(position_, 5, 2, 8);
      else if (section == "Velocities") table(velocity_, 4, 1, 4);
      else if (section == "Masses") mass();
      else skip();
    }
    if (!is_whole(position_)) end("a section Atoms");
    if (!is_whole(velocity_)) end("a section Velocities");
    const vec3 size = high_ - low_;
    for (vec3& p : position_)
      p = {inside(p.x, low_.x, size.x), inside(p.y, low_.y, size.y), inside(p.z, low_.z, size.z)};
  }

  melt result() const { return {low_, high_ - low_, position_, velocity_}; }

private:
  [[noreturn]] void end(const std::string& expected) const {
    throw input_error(in_.name(), 0, expected, "the end of the file");
  }
  bool is_whole(const std::vector<vec3>& table) const {
    return table.size() == static_cast<std::size_t>(atoms_);
  }

  void head() {
    bool box[3] = {};
    do {
      const auto words = words_of(in_);
      if (words.empty()) continue;
      if (words.size() == 2 && words[1] == "atoms") {
        atoms_ = in_.number(words[0], 1, most_atoms, "a number of atoms");
      } else if (words.size() == 3 && words[1] == "atom" && words[2] == "types") {
        in_.number(words[0], 1, 1, "one type of atoms:");
      } else if (words.size() == 4 && words[2].ends_with("lo") && words[3].ends_with("hi")) {
        const int d = words[2].front() - 'x';
        if (d < 0 || d > 2) in_.fail("xlo xhi, ylo yhi or zlo zhi", in_quotes(in_.text()));
        double vec3::*const at[] = {&vec3::x, &vec3::y, &vec3::z};
        low_.*at[d] = real(in_, words[0], "a number");
        high_.*at[d] = real(in_, words[1], "a number");
        if (high_.*at[d] - low_.*at[d] < reach)
          in_.fail("a box at least 2.8 long", in_quotes(in_.text()));
        box[d] = true;
      } else if (words.size() > 3 && words.back() == "yz") {
        in_.fail("a box at right angles", in_quotes(in_.text()));
      } else if (begins_section(words[0])) {
        is_read_ = true;
        break;
      }
    } while (in_.next());
    if (atoms_ == 0) in_.fail("the number of atoms before", in_quotes(in_.text()));
    for (bool known : box)
      if (!known) in_.fail("the box (xlo xhi and so on) before", in_quotes(in_.text()));
    const vec3 size = high_ - low_;
    if (!(size.x * size.y * size.z <= most_volume))
      in_.fail("a box of at most 5e8 (length cubed) before", in_quotes(in_.text()));
  }

  // The name of the section whose lines come next, or nothing at the end.
  std::string next_section() {
    do {
      if (!is_read_) continue;
      const auto words = words_of(in_);
      if (words.empty()) continue;
      if (!begins_section(words[0])) in_.fail("the name of a section", in_quotes(in_.text()));
      is_read_ = false;
      return std::string(words[0]);
    } while (is_read_ = in_.next(), is_read_);
    return {};
  }
  void mass() {
    while (in_.next()) {
      const auto words = words_of(in_);
      if (words.empty()) continue;
      if (words.size() != 2 || real(in_, words[1], "a mass") != 1)
        in_.fail("1 1: the mass of the only type", in_quotes(in_.text()));
      return;
    }
    end("a mass");
  }
  void skip() {
    while ((is_read_ = in_.next())) {
      const auto words = words_of(in_);
      if (!words.empty() && begins_section(words[0])) return;
    }
  }
  // A line for each atom: its number, and from word `first` on three numbers.
  void table(std::vector<vec3>& to, std::size_t least, std::size_t first, std::size_t most) {
    std::vector<bool> known(static_cast<std::size_t>(atoms_));
    to.assign(static_cast<std::size_t>(atoms_), {});
    for (int n = 0; n < atoms_;) {
      if (!in_.next()) end(std::to_string(atoms_) + " atoms, a line for each");
      const auto words = words_of(in_);
      if (words.empty()) continue;
      if (words.size() < least || words.size() > most)
        in_.fail("the line of an atom", in_quotes(in_.text()));
      const auto i =
          static_cast<std::size_t>(in_.number(words[0], 1, atoms_, "the number of an atom")) - 1;
      if (known[i]) in_.fail("each atom once", in_quotes(words[0]));
      known[i] = true;
      to[i] = {real(in_, words[first], "a number"), real(in_, words[first + 1], "a number"),
               real(in_, words[first + 2], "a number")};
      n++;
    }
  }

  std::ifstream file_;
  line_reader in_;
  bool is_read_ = false;  // the line that is next
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
