// What all of LAMMPS's data files have: a head with counts and a box, then sections.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../common/vec3.hpp"
#include "support/line_reader.hpp"

namespace apps::lammps {

inline constexpr int most_atoms = 100'000'000;

// The words with a blank between each two.
std::string joined(const std::vector<std::string_view>& words);

// Where an atom is: in the periodic box, and how often it has left that in each direction.
struct image {
  int x = 0, y = 0, z = 0;
};

class data_reader {
public:
  virtual ~data_reader() = default;
  data_reader(const data_reader&) = delete;
  data_reader& operator=(const data_reader&) = delete;

protected:
  using words = std::vector<std::string_view>;

  // `least_side`: how long the box is at least.
  data_reader(const std::string& name, double least_side)
      : file_(open_input(name)), in_(file_, name), least_side_(least_side) {}

  // Reads the whole file, by means of the two functions below.
  void read();

  // Takes a line of the head: a number of what; false if there is no such line.
  virtual bool count(const std::string& what) = 0;
  // Reads the lines of a section. `comment` is what follows its name after '#'.
  virtual void section(const std::string& name, const std::string& comment) = 0;
  // Names the lines that the head may have, for a message.
  virtual std::string head() const = 0;

  // Goes to the next line that has words before a '#'. False at the end.
  bool next();
  // The words of the current line.
  const words& line() const { return words_; }
  const line_reader& in() const { return in_; }
  [[noreturn]] void end(const std::string& expected) const {
    in_.fail(expected, "the end of the file");
  }
  [[noreturn]] void fail(const std::string& expected) const {
    in_.fail(expected, in_quotes(in_.text()));
  }
  double real(std::string_view word) const { return in_.real(word, "a number"); }
  vec3 point(std::size_t first) const {
    return {real(words_[first]), real(words_[first + 1]), real(words_[first + 2])};
  }

  // A line for each of `count`, which begins with its number; row() reads the rest of it. `one` is
  // as "atom", `all` as "atoms".
  template <class Row>
  auto table(int count, const std::string& one, const std::string& all, const Row& row) {
    using made = decltype(row());
    std::vector<bool> known(static_cast<std::size_t>(count));
    std::vector<int> number;
    std::vector<made> rows;  // grows as the file does, which may announce more than it holds
    while (rows.size() < known.size()) {
      if (!next()) end(std::to_string(count) + " " + all + ", a line for each");
      const int n = in_.number(words_[0], 1, count, "the number of " + an(one)) - 1;
      if (known[n]) in_.fail("each " + one + " once", in_quotes(words_[0]));
      known[n] = true;
      number.push_back(n), rows.push_back(row());
    }
    std::vector<made> sorted(rows.size());
    for (std::size_t i = 0; i < rows.size(); i++) sorted[number[i]] = std::move(rows[i]);
    return sorted;
  }
  // The place of an atom in the periodic box; `of` counts the sides that it was away.
  vec3 inside(vec3 p, image& of) const;

  int atoms_ = 0;
  vec3 low_, high_;

private:
  static std::string an(const std::string& word) {
    return (std::string("aieou").find(word[0]) == std::string::npos ? "a " : "an ") + word;
  }
  void head_lines();
  void side();

  std::ifstream file_;
  line_reader in_;
  words words_;
  double least_side_;
};

}  // namespace apps::lammps
