#include "data_reader.hpp"

#include <cmath>
#include <sstream>

namespace apps::lammps {
namespace {

constexpr double most_volume = 5e8;  // the largest box: near atoms are looked for in parts of it
constexpr double farthest = 1000;  // sides of the box: an atom farther out cannot be put back well

bool begins_section(std::string_view word) { return word.front() >= 'A' && word.front() <= 'Z'; }

std::string joined(const std::vector<std::string_view>& words, std::size_t from) {
  return lammps::joined({words.begin() + static_cast<std::ptrdiff_t>(from), words.end()});
}

}  // namespace

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::string_view word : words) (text += text.empty() ? "" : " ") += word;
  return text;
}

void data_reader::read() {
  in_.next();  // a title
  if (!next()) end("the number of atoms");
  head_lines();
  for (;;) {
    const std::string name = joined(words_);
    const std::string& text = in_.text();
    const auto mark = text.find('#');
    section(name, joined(split(std::string(text, mark == text.npos ? text.size() : mark + 1))));
    if (!next()) return;
    if (!begins_section(words_[0])) fail("the name of a section");
  }
}

bool data_reader::next() {
  while (in_.next()) {
    const std::string_view line = in_.text();
    words_ = split(line.substr(0, line.find('#')));
    if (!words_.empty()) return true;
  }
  return false;
}

void data_reader::head_lines() {
  do {
    if (begins_section(words_[0])) break;
    const std::string what = joined(words_, 1);
    if (what == "atoms") {
      atoms_ = in_.number(words_[0], 1, most_atoms, "a number of atoms");
    } else if (words_.size() == 4 && words_[3].ends_with("hi")) {
      side();
    } else if (words_.size() == 6 && joined(words_, 3) == "xy xz yz") {
      const vec3 tilt = point(0);
      if (tilt.x != 0 || tilt.y != 0 || tilt.z != 0) fail("a box at right angles (a tilt of 0)");
    } else if (!count(what)) {
      fail(head());
    }
  } while (next());
  if (atoms_ == 0) fail("the number of atoms before");
  const vec3 size = high_ - low_;
  if (size.x == 0 || size.y == 0 || size.z == 0) fail("the box (xlo xhi and so on) before");
  if (!(size.x * size.y * size.z <= most_volume))
    fail("a box of at most 5e8 (length cubed) before");
}

void data_reader::side() {
  const std::string ends = joined(words_, 2);
  double vec3::*const at = ends == "xlo xhi"   ? &vec3::x
                           : ends == "ylo yhi" ? &vec3::y
                           : ends == "zlo zhi" ? &vec3::z
                                               : nullptr;
  if (at == nullptr) fail("xlo xhi, ylo yhi or zlo zhi");
  low_.*at = real(words_[0]), high_.*at = real(words_[1]);
  if (!(high_.*at - low_.*at >= least_side_)) {
    std::ostringstream least;
    least << least_side_;
    fail("a box at least " + least.str() + " long");
  }
}

vec3 data_reader::inside(vec3 p, image& of) const {
  const auto put = [&](double& at, double low, double size, int& away) {
    const double sides = std::floor((at - low) / size);
    if (!(std::abs(sides) <= farthest)) fail("an atom at most 1000 boxes away from the box");
    at -= size * sides;
    away += static_cast<int>(sides);
  };
  put(p.x, low_.x, high_.x - low_.x, of.x);
  put(p.y, low_.y, high_.y - low_.y, of.y);
  put(p.z, low_.z, high_.z - low_.z, of.z);
  return p;
}

}  // namespace apps::lammps
