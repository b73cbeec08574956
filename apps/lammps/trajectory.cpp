#include "trajectory.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "support/save_file.hpp"

namespace apps::lammps {
namespace {

bool is_xyz(const std::string& name) { return name.ends_with(".xyz"); }
bool is_dcd(const std::string& name) { return name.ends_with(".dcd"); }

std::string three(const vec3& v) { return fmt::format(" {} {} {}", v.x, v.y, v.z); }

}  // namespace

void trajectory::require_good(const std::string& name) {
  if (!is_xyz(name) && !is_dcd(name) && !name.ends_with(".lammpstrj"))
    throw std::invalid_argument(name + ": expected a name that ends with .xyz, .lammpstrj or .dcd");
  require_writable(name);
}

trajectory::trajectory(const std::string& name, const vec3& low, const vec3& size,
                       std::vector<int> types, double time_step)
    : name_(name),
      low_(low),
      high_(low + size),
      types_(std::move(types)),
      dcd_(out_, size, time_step) {
  errno = 0;
  out_.open(name, std::ios::binary | std::ios::trunc);
  if (!out_) fail();
}

void trajectory::fail() const {
  throw std::runtime_error(name_ + ": cannot be written: " + std::strerror(errno));
}

void trajectory::write(int step, std::span<const frame* const> parts) {
  std::size_t atoms = 0;
  for (const frame* part : parts) atoms += part->atom.size();
  all_.position.resize(atoms), all_.velocity.resize(atoms), all_.force.resize(atoms);
  for (const frame* part : parts)
    for (std::size_t i = 0; i < part->atom.size(); i++) {
      const int to = part->atom[i];
      all_.position[to] = part->position[i];
      all_.velocity[to] = part->velocity[i];
      all_.force[to] = part->force[i];
    }
  errno = 0;
  if (is_dcd(name_)) dcd_.write(step, all_.position);
  else is_xyz(name_) ? write_xyz(step) : write_dump(step);
  if (!out_.flush()) fail();
}

void trajectory::write_xyz(int step) {
  out_ << fmt::format("{}\nAtoms. Timestep: {}\n", all_.position.size(), step);
  for (std::size_t i = 0; i < all_.position.size(); i++)
    out_ << fmt::format("{} {:.7g} {:.7g} {:.7g}\n", type(i), all_.position[i].x,
                        all_.position[i].y, all_.position[i].z);
}

void trajectory::write_dump(int step) {
  out_ << fmt::format(
      "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS pp pp pp\n{} {}\n{} {}\n{} "
      "{}\nITEM: ATOMS id type x y z vx vy vz fx fy fz\n",
      step, all_.position.size(), low_.x, high_.x, low_.y, high_.y, low_.z, high_.z);
  for (std::size_t i = 0; i < all_.position.size(); i++)
    out_ << i + 1 << ' ' << type(i) << three(all_.position[i]) << three(all_.velocity[i])
         << three(all_.force[i]) << '\n';
}

}  // namespace apps::lammps
