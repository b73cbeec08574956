#include "settings.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace apps::lammps {
namespace {

constexpr int most_steps = 1'000'000;

class settings_reader {
public:
  explicit settings_reader(const std::string& name) : file_(open_input(name)), in_(file_, name) {
    to_.name = name;
    while (next()) command();
  }
  settings result() { return std::move(to_); }

private:
  using action = void (settings_reader::*)();

  // Goes to the next command. A line that ends with '&' goes on in the next one.
  bool next() {
    current_ = {place(in_.name(), in_.line() + 1), {}};
    bool more = true;
    while (more && in_.next()) {
      const std::string_view line = in_.text();
      for (std::string_view word : split(line.substr(0, line.find('#'))))
        current_.words.emplace_back(word);
      more = !current_.words.empty() && current_.words.back() == "&";
      if (more) current_.words.pop_back();
      else if (current_.words.empty())
        current_.where = place(in_.name(), in_.line() + 1), more = true;
    }
    return !current_.words.empty();
  }

  void command() {
    static constexpr std::pair<const char*, action> commands[] = {
        {"units", &settings_reader::units},
        {"atom_style", &settings_reader::atom_style},
        {"boundary", &settings_reader::boundary},
        {"dielectric", &settings_reader::dielectric},
        {"mass", &settings_reader::mass},
        {"pair_style", &settings_reader::read_pair_style},
        {"pair_modify", &settings_reader::pair_modify},
        {"pair_coeff", &settings_reader::pair_coeff},
        {"special_bonds", &settings_reader::special_bonds},
        {"neighbor", &settings_reader::neighbor},
        {"neigh_modify", &settings_reader::neigh_modify},
        {"timestep", &settings_reader::timestep},
        {"fix", &settings_reader::fix}};
    const std::string& name = current_.words[0];
    for (const auto& [known, act] : commands)
      if (name == known) return (this->*act)();
    for (int k = 0; k < kinds; k++) {
      if (name == name_of_kind[k] + std::string("_style")) return style_of(kind(k));
      if (name == name_of_kind[k] + std::string("_coeff")) {
        to_.bonded[k].coefficients.push_back(without_name());
        return;
      }
    }
    std::string all;
    for (const auto& [known, act] : commands) all += std::string(known) + ", ";
    current_.fail(0, "a command that md knows (" + all + "KIND_style or KIND_coeff)");
  }
  statement without_name() {
    statement rest = current_;
    rest.words.erase(rest.words.begin());
    return rest;
  }
  // Word k, which is one of those.
  const std::string& one_of(std::size_t k, std::initializer_list<const char*> known) const {
    std::string expected;
    for (const char* each : known) (expected += expected.empty() ? "" : " or ") += each;
    const std::string& word = current_.word(k, expected);
    if (std::find(known.begin(), known.end(), word) == known.end()) current_.fail(k, expected);
    return word;
  }
  void only(std::size_t k, std::initializer_list<const char*> known) {
    one_of(k, known);
    current_.ends_at(k + 1);
  }

  void units() {
    only(1, {"real", "lj"});
    to_.units = current_.words[1];
  }
  void atom_style() {
    only(1, {"full", "molecular", "charge", "atomic"});
    to_.atom_style = current_.words[1];
  }
  void boundary() {
    for (std::size_t k = 1; k < 4; k++) one_of(k, {"p"});
    current_.ends_at(4);
  }
  void dielectric() {
    to_.dielectric = current_.positive(1, "a number");
    current_.ends_at(2);
  }
  void mass() { to_.masses.push_back(without_name()); }
  void fix() {
    current_.word(1, "the name of the fix");
    one_of(2, {"all"});
    only(3, {"nve"});
  }

  // ---- pairs

  void read_pair_style() {
    pair_settings& p = to_.pairs;
    const std::string& style =
        one_of(1, {"lj/charmm/coul/charmm", "lj/cut/coul/cut", "lj/cut", "none"});
    const std::size_t most = style == "lj/charmm/coul/charmm" ? 4
                             : style == "lj/cut/coul/cut"     ? 2
                             : style == "lj/cut"              ? 1
                                                              : 0;
    current_.ends_at(2 + most);
    std::vector<double> cuts;
    for (std::size_t k = 2; k < std::max(current_.words.size(), most > 0 ? 3ul : 0ul); k++)
      cuts.push_back(current_.positive(k, "a distance"));
    if (style == "none") {
      p.style = pair_style::none;
    } else if (style == "lj/charmm/coul/charmm") {
      p.style = pair_style::lj_charmm_coul_charmm;
      if (cuts.size() % 2 != 0) current_.fail(2 + cuts.size(), "the distance to cut off at");
      p.inner_lj = cuts[0], p.outer_lj = cuts[1];
      p.inner_coulomb = cuts[cuts.size() - 2], p.outer_coulomb = cuts[cuts.size() - 1];
      if (!(p.inner_lj < p.outer_lj)) current_.fail(3, "an outer distance above the inner one");
      if (!(p.inner_coulomb < p.outer_coulomb))
        current_.fail(5, "an outer distance above the inner one");
    } else {
      p.style = most == 1 ? pair_style::lj_cut : pair_style::lj_cut_coul_cut;
      p.inner_lj = p.outer_lj = cuts[0];
      p.inner_coulomb = p.outer_coulomb = most == 1 ? 0 : cuts.back();
    }
  }
  void pair_modify() {
    for (std::size_t k = 1; k == 1 || k < current_.words.size(); k += 2) {
      const std::string& what = one_of(k, {"mix", "shift", "tail"});
      if (what == "mix")
        to_.pairs.arithmetic = one_of(k + 1, {"arithmetic", "geometric"})[0] == 'a';
      else one_of(k + 1, {"no"});
    }
  }
  void pair_coeff() { to_.pairs.coefficients.push_back(without_name()); }
  void special_bonds() {
    to_.special_lj = to_.special_coulomb = {1, 0, 0, 0};
    for (std::size_t k = 1; k == 1 || k < current_.words.size();) {
      const std::string& what =
          one_of(k, {"charmm", "amber", "dreiding", "lj/coul", "lj", "coul", "angle", "dihedral"});
      k++;
      if (what == "charmm") {
        to_.special_lj[3] = to_.special_coulomb[3] = 0;
      } else if (what == "amber") {
        to_.special_lj[3] = 0.5, to_.special_coulomb[3] = 5.0 / 6.0;
      } else if (what == "dreiding") {
        to_.special_lj[3] = to_.special_coulomb[3] = 1;
      } else if (what == "angle" || what == "dihedral") {
        one_of(k++, {"no"});
      } else {
        for (int bonds = 1; bonds <= 3; bonds++, k++) {
          const double share = current_.real(k, "a number from 0 to 1");
          if (!(share >= 0 && share <= 1)) current_.fail(k, "a number from 0 to 1");
          if (what != "coul") to_.special_lj[bonds] = share;
          if (what != "lj") to_.special_coulomb[bonds] = share;
        }
      }
    }
  }

  // ---- bonded terms, lists and time

  void style_of(kind k) {
    k == angles || k == dihedrals ? only(1, {"harmonic", "charmm", "none"})
                                  : only(1, {"harmonic", "none"});
    to_.bonded[k].style = current_.words[1] == "none" ? "" : current_.words[1];
    to_.bonded[k].coefficients.clear();
  }
  void neighbor() {
    to_.skin = current_.positive(1, "a distance");
    only(2, {"bin", "nsq", "multi"});
  }
  // LAMMPS also makes no list before it is needed; here there is one after so many steps.
  void neigh_modify() {
    int every = 0, delay = 0;
    for (std::size_t k = 1; k == 1 || k < current_.words.size(); k += 2) {
      const std::string& what = one_of(k, {"every", "delay", "check"});
      if (what == "check") one_of(k + 1, {"yes", "no"});
      else if (what == "every") every = current_.number(k + 1, 1, most_steps, "a number of steps");
      else delay = current_.number(k + 1, 0, most_steps, "a number of steps");
    }
    if (std::max(every, delay) > 0) to_.relist = std::max(every, delay);
  }
  void timestep() {
    to_.time_step = current_.positive(1, "a time");
    current_.ends_at(2);
  }

  std::ifstream file_;
  line_reader in_;
  statement current_{place(""), {}};
  settings to_;
};

}  // namespace

settings read_settings(const std::string& name) { return settings_reader(name).result(); }

}  // namespace apps::lammps
