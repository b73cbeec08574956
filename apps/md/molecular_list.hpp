// What is near a block's atoms: pairs without those that few bonds join, and bonded terms.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "../lammps/system.hpp"
#include "bonded.hpp"
#include "charged_pairs.hpp"

namespace apps::md {

// A pair of which a share of the forces counts: that of atoms so many bonds apart.
struct shared_pair {
  int i = 0, j = 0, bonds = 0;
};
struct local_term {
  int type = 0;
  places at{};
};

struct molecular_list {
  pair_list pairs;
  atom_kinds atoms;
  std::vector<shared_pair> shared;
  std::array<std::vector<local_term>, lammps::kinds> terms;
  std::vector<vec3> listed;    // where own atoms were when the list was made
  double farthest_square = 0;  // the square of how far one has come since its list was made
  auto fields() { return std::tie(pairs, atoms, shared, terms, listed, farthest_square); }
};

// Finds own atoms and ghosts by the numbers of atoms: one may be there several times.
class copies_of {
public:
  copies_of(std::span<const int> atoms, std::size_t of_all)
      : head_(of_all, none), next_(atoms.size()) {
    for (std::size_t i = atoms.size(); i-- > 0;) {
      next_[i] = head_[atoms[i]];
      head_[atoms[i]] = static_cast<int>(i);
    }
  }
  // The first place of which f(place) is true, else `none`.
  template <class F>
  int find(int atom, const F& f) const {
    int i = head_[atom];
    while (i != none && !f(i)) i = next_[i];
    return i;
  }
  static constexpr int none = -1;

private:
  std::vector<int> head_, next_;
};

// One block's list while it is made.
class list_maker {
public:
  list_maker(const lammps::system& s, std::span<const vec3> position, std::span<const int> atoms,
             std::size_t own)
      : system_(s), position_(position), atoms_(atoms), own_(own), copies_(atoms, s.type.size()) {}

  void make(const vec3& low, const vec3& high, double near, molecular_list& to) const {
    describe_atoms(to);
    list_all_pairs(low, high, near, to);
    to.shared.clear();
    for (std::size_t i = 0; i < own_; i++) add_shared(static_cast<int>(i), near, to.shared);
    for (int k = 0; k < lammps::kinds; k++) {
      to.terms[k].clear();
      for (std::size_t i = 0; i < own_; i++) add_terms(lammps::kind(k), static_cast<int>(i), to);
    }
  }

private:
  void describe_atoms(molecular_list& to) const {
    to.listed.assign(position_.begin(), position_.begin() + static_cast<std::ptrdiff_t>(own_));
    to.atoms.type.clear(), to.atoms.charge.clear();
    for (int atom : atoms_) {
      to.atoms.type.push_back(system_.type[atom]);
      to.atoms.charge.push_back(system_.charge[atom]);
    }
  }
  template <class F>
  void for_special(int atom, const F& f) const {
    const auto& special = system_.special;
    for (int k = special.first[atom]; k < special.first[atom + 1]; k++) f(special.item[k]);
  }
  // Those that few bonds join are left out, in all images.
  void list_all_pairs(const vec3& low, const vec3& high, double near, molecular_list& to) const {
    std::vector<unsigned char> is_special(system_.type.size());
    const auto mark = [&](std::size_t i, unsigned char as) {
      for_special(atoms_[i], [&](const auto& each) { is_special[each.atom] = as; });
    };
    list_pairs(
        low, high, near, position_, own_, to.pairs, [&](std::size_t i) { mark(i, 1); },
        [&](int j) { return static_cast<int>(is_special[atoms_[j]] == 0); },
        [&](std::size_t i) { mark(i, 0); });
  }
  // Whether they are nearer than any other images of them.
  bool are_nearest(int i, int j) const {
    const vec3 d = position_[i] - position_[j], &size = system_.size;
    return std::abs(d.x) <= size.x / 2 && std::abs(d.y) <= size.y / 2 &&
           std::abs(d.z) <= size.z / 2;
  }
  void add_shared(int i, double near, std::vector<shared_pair>& to) const {
    const auto& field = system_.field;
    for_special(atoms_[i], [&](const lammps::near_by_bonds& other) {
      copies_.find(other.atom, [&](int j) {
        const vec3 d = position_[i] - position_[j];
        if (j > i && dot(d, d) < near * near) {
          const int bonds = are_nearest(i, j) ? other.bonds : 0;
          if (field.special_lj[bonds] != 0 || field.special_coulomb[bonds] != 0)
            to.push_back({i, j, bonds});
        }
        return false;
      });
    });
  }
  // Of the blocks that have atoms of a term, the one that the others are ahead of computes it. Only
  // there all of its atoms are found, each as near as it can be to an own one.
  void add_terms(lammps::kind kind, int i, molecular_list& to) const {
    const auto& terms_of = system_.terms_of[kind];
    const int atom = atoms_[i];
    for (int t = terms_of.first[atom]; t < terms_of.first[atom + 1]; t++) {
      const lammps::term& term = system_.terms[kind][terms_of.item[t]];
      local_term found{term.type, {}};
      bool is_here = true;
      for (int k = 0; k < lammps::atoms_of_kind[kind] && is_here; k++) {
        found.at[k] = term.atom[k] == atom
                          ? i
                          : copies_.find(term.atom[k], [&](int j) { return are_nearest(i, j); });
        is_here = found.at[k] >= i;  // it is added for the first of its own atoms
      }
      if (is_here) to.terms[kind].push_back(found);
    }
  }

  const lammps::system& system_;
  std::span<const vec3> position_;
  std::span<const int> atoms_;
  std::size_t own_;
  copies_of copies_;
};

}  // namespace apps::md
