#include "dcd.hpp"

#include <array>
#include <cstring>
#include <string>

namespace apps::lammps {
namespace {

using number = std::int32_t;

template <class T>
void put(std::ostream& to, const T& value) {
  to.write(reinterpret_cast<const char*>(&value), sizeof value);
}
// A record as Fortran writes it: its length, its bytes, its length.
template <class T>
void record(std::ostream& to, const T* from, std::size_t count) {
  const auto bytes = static_cast<number>(count * sizeof(T));
  put(to, bytes);
  to.write(reinterpret_cast<const char*>(from), bytes);
  put(to, bytes);
}

// Twenty numbers follow the word CORD.
enum control : std::size_t { frames, first, every, last, time_step = 9, has_box, version = 19 };

std::array<char, 84> control_record(number n, number begin, number step, number end, float time) {
  std::array<number, 20> all{};
  all[control::frames] = n, all[control::first] = begin;
  all[control::every] = step, all[control::last] = end;
  std::memcpy(&all[control::time_step], &time, sizeof time);
  all[control::has_box] = 1, all[control::version] = 24;  // of CHARMM
  std::array<char, 84> bytes{'C', 'O', 'R', 'D'};
  std::memcpy(bytes.data() + 4, all.data(), sizeof all);
  return bytes;
}

}  // namespace

void dcd::write_head(std::size_t atoms) {
  const auto all = control_record(frames_, first_, every_, last_, static_cast<float>(time_step_));
  record(*to_, all.data(), all.size());
  if (frames_ > 1) return;
  std::string title = "REMARKS atoms of md";
  title.resize(80, ' ');
  put(*to_, number{84}), put(*to_, number{1});
  to_->write(title.data(), 80);
  put(*to_, number{84});
  const auto count = static_cast<number>(atoms);
  record(*to_, &count, 1);
}

void dcd::write(int step, const std::vector<vec3>& positions) {
  if (frames_ == 0) first_ = step;
  if (frames_ == 1) every_ = step - first_;
  ++frames_, last_ = step;
  const auto end = to_->tellp();
  to_->seekp(0);
  write_head(positions.size());
  if (frames_ > 1) to_->seekp(end);
  // Lengths, and cosines of angles.
  const std::array<double, 6> box{box_.x, 0, box_.y, 0, 0, box_.z};
  record(*to_, box.data(), box.size());
  std::vector<float> along(positions.size());
  for (double vec3::*const d : {&vec3::x, &vec3::y, &vec3::z}) {
    for (std::size_t i = 0; i < positions.size(); i++)
      along[i] = static_cast<float>(positions[i].*d);
    record(*to_, along.data(), along.size());
  }
}

}  // namespace apps::lammps
