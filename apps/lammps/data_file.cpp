#include "data_file.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace apps::lammps {
namespace {

constexpr int most_types = 10'000, most_terms = 200'000'000;

// Counts that LAMMPS has and that must be 0 here.
constexpr std::string_view absent[] = {"ellipsoids", "lines", "triangles", "bodies", "crossterms"};

struct atom_style {
  std::string_view name;
  int molecule, type, charge, position;  // columns; 0: there is none
  const char* columns;
};
constexpr atom_style styles[] = {{"atomic", 0, 1, 0, 2, "number, type, x, y, z"},
                                 {"charge", 0, 1, 2, 3, "number, type, charge, x, y, z"},
                                 {"molecular", 1, 2, 0, 3, "number, molecule, type, x, y, z"},
                                 {"full", 1, 2, 3, 4, "number, molecule, type, charge, x, y, z"}};

const std::string plural_of[] = {"bonds", "angles", "dihedrals", "impropers"};

// "bond" as "Bond"
std::string capital(std::string word) {
  word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

class reader : private data_reader {
public:
  reader(const std::string& name, const settings& how)
      : data_reader(name, std::numeric_limits<double>::min()), how_(how) {
    style_ = std::find_if(std::begin(styles), std::end(styles),
                          [&](const atom_style& each) { return each.name == how.atom_style; });
    to_.name = name;
    read();
    if (to_.atoms.position.empty()) end("a section Atoms");
    if (to_.atoms.velocity.empty()) to_.atoms.velocity.resize(to_.atoms.position.size());
    for (int k = 0; k < kinds; k++)
      if (to_.terms[k].size() != static_cast<std::size_t>(terms_[k]))
        end("a section " + capital(plural_of[k]));
    to_.low = low_, to_.size = high_ - low_;
  }
  data_file result() { return std::move(to_); }

private:
  using labels = std::map<std::string, int, std::less<>>;

  // ---- the head

  std::string head() const override {
    return "atoms, bonds, angles, dihedrals, impropers, or their types, xlo xhi, ylo yhi, zlo zhi "
           "or "
           "the name of a section";
  }
  bool count(const std::string& what) override {
    const std::string_view word = line()[0];
    if (what == "atom types") return take(to_.types, word, 1, most_types, what);
    for (int k = 0; k < kinds; k++) {
      if (what == plural_of[k]) return take(terms_[k], word, 0, most_terms, what);
      if (what == name_of_kind[k] + std::string(" types"))
        return take(to_.types_of[k], word, 0, most_types, what);
    }
    if (what.starts_with("extra ")) return true;  // room that LAMMPS is to keep
    if (std::find(std::begin(absent), std::end(absent), what) == std::end(absent)) return false;
    in().number(word, 0, 0, "no " + what + ": a number");
    return true;
  }
  bool take(int& to, std::string_view word, int low, int high, const std::string& what) {
    to = in().number(word, low, high, "a number of " + what);
    return true;
  }

  // ---- the sections

  void section(const std::string& name, const std::string& comment) override {
    if (std::find(done_.begin(), done_.end(), name) != done_.end()) fail("each section once");
    done_.push_back(name);
    if (name == "Atoms") return atoms(comment);
    if (name == "Velocities") return velocities();
    if (name == "Masses") return coefficients(to_.masses, to_.types, atom_labels_);
    if (name == "Pair Coeffs") return coefficients(to_.pairs, to_.types, atom_labels_);
    if (name == "PairIJ Coeffs") return mixed();
    if (name == "Atom Type Labels") return type_labels(atom_labels_, to_.types);
    for (int k = 0; k < kinds; k++) {
      const std::string one = capital(name_of_kind[k]);
      if (name == one + "s") return terms(kind(k));
      if (name == one + " Coeffs")
        return coefficients(to_.coefficients[k], to_.types_of[k], labels_[k]);
      if (name == one + " Type Labels") return type_labels(labels_[k], to_.types_of[k]);
    }
    fail(
        "Atoms, Velocities, Bonds, Angles, Dihedrals, Impropers, Masses, Pair Coeffs, PairIJ "
        "Coeffs, "
        "KIND Coeffs or KIND Type Labels");
  }
  void atoms(const std::string& comment) {
    if (!comment.empty() && comment != style_->name)
      in().fail("the atom style " + how_.atom_style + " of " + how_.name, in_quotes(comment));
    const std::size_t least = static_cast<std::size_t>(style_->position) + 3;
    std::size_t columns = 0;  // all lines have as many
    const auto rows = table(atoms_, "atom", "atoms", [&] {
      if (columns == 0 && (line().size() == least || line().size() == least + 3))
        columns = line().size();
      if (line().size() != columns)
        fail("the line of an atom of style " + how_.atom_style + " (" + style_->columns +
             " and perhaps three whole numbers, on each line the same)");
      return one_atom(least);
    });
    atoms_of_file& to = to_.atoms;
    for (const row& r : rows) {
      to.position.push_back(r.position), to.away.push_back(r.away);
      to.type.push_back(r.type), to.charge.push_back(r.charge);
    }
  }
  struct row {
    vec3 position;
    image away;
    int type = 0;
    double charge = 0;
  };
  row one_atom(std::size_t least) const {
    const auto turns = [&](std::size_t k) {
      return line().size() > k ? in().number(line()[k], -most_turns, most_turns, "a whole number")
                               : 0;
    };
    row r;
    if (style_->molecule != 0)
      in().number(line()[style_->molecule], std::numeric_limits<int>::min(),
                  std::numeric_limits<int>::max(), "a molecule's number");
    r.type = type(line()[style_->type], to_.types, atom_labels_, "a type of atoms");
    if (style_->charge != 0) r.charge = real(line()[style_->charge]);
    r.away = {turns(least), turns(least + 1), turns(least + 2)};
    r.position = inside(point(static_cast<std::size_t>(style_->position)), r.away);
    return r;
  }
  void velocities() {
    to_.atoms.velocity = table(atoms_, "atom", "atoms", [&] {
      if (line().size() != 4) fail("the velocity of an atom (number, x, y, z)");
      return point(1);
    });
  }
  // A type by its number or its label, from 0 on.
  int type(std::string_view word, int types, const labels& known, const std::string& what) const {
    const auto found = known.find(word);
    if (found != known.end()) return found->second;
    return in().number(word, 1, types, what) - 1;
  }
  void type_labels(labels& to, int types) {
    for (int n = 0; n < types; n++) {
      if (!next()) end(std::to_string(types) + " labels, a line for each");
      if (line().size() != 2) fail("a type's number and its label");
      const int number = in().number(line()[0], 1, types, "a type's number");
      const bool good = std::isdigit(static_cast<unsigned char>(line()[1][0])) == 0;
      if (!good || !to.emplace(line()[1], number - 1).second)
        in().fail("a label of its own that does not begin with a digit", in_quotes(line()[1]));
    }
  }
  // A line for each type, which begins with its number or its label; it is kept with the number.
  void coefficients(std::vector<statement>& to, int types, const labels& known) {
    for (int n = 0; n < types; n++) {
      if (!next()) end(std::to_string(types) + " lines, one for each type");
      to.push_back(kept());
      to.back().words[0] = std::to_string(type(line()[0], types, known, "a type") + 1);
    }
  }
  void mixed() {
    const int lines = to_.types * (to_.types + 1) / 2;
    for (int n = 0; n < lines; n++) {
      if (!next()) end(std::to_string(lines) + " lines, one for each two types");
      if (line().size() < 2) fail("two types and their coefficients");
      to_.mixed.push_back(kept());
      for (std::size_t k = 0; k < 2; k++)
        to_.mixed.back().words[k] =
            std::to_string(type(line()[k], to_.types, atom_labels_, "a type of atoms") + 1);
    }
  }
  statement kept() const {
    return {place(in().name(), in().line()), {line().begin(), line().end()}};
  }
  void terms(kind k) {
    const std::string one = name_of_kind[k];
    const auto count = static_cast<std::size_t>(atoms_of_kind[k]);
    to_.terms[k] = table(terms_[k], one, plural_of[k], [&] {
      if (line().size() != 2 + count)
        fail("the line of a" + std::string(k == angles || k == impropers ? "n " : " ") + one +
             " (number, type, " + std::to_string(count) + " atoms)");
      term t{type(line()[1], to_.types_of[k], labels_[k], "a type of " + plural_of[k]), {}};
      for (std::size_t i = 0; i < count; i++) {
        t.atom[i] = in().number(line()[2 + i], 1, atoms_, "an atom") - 1;
        for (std::size_t j = 0; j < i; j++)
          if (t.atom[i] == t.atom[j]) fail("different atoms of one " + one);
      }
      return t;
    });
  }

  static constexpr int most_turns = 1'000'000;

  const settings& how_;
  const atom_style* style_ = nullptr;
  std::array<int, kinds> terms_{};  // how many there are to be
  labels atom_labels_;
  std::array<labels, kinds> labels_;
  std::vector<std::string> done_;  // the names of the sections so far
  data_file to_;
};

}  // namespace

data_file read_data_file(const std::string& name, const settings& how) {
  return reader(name, how).result();
}

}  // namespace apps::lammps
