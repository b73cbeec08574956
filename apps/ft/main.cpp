// NAS Parallel Benchmarks, kernel FT: a partial differential equation solved by Fourier transforms
// in three dimensions (RNR-94-007, section 2.4.5).
#include "../npb/program.hpp"
#include "../npb/random.hpp"
#include "checksums.hpp"
#include "field.hpp"

namespace {

using namespace apps::ft;

struct problem {
  shape of;
  std::size_t iterations;
};

problem problem_of(char name) {
  switch (name) {
    case 'S': return {{64, 64, 64}, 6};
    case 'W': return {{128, 128, 32}, 6};
    case 'A': return {{256, 256, 128}, 6};
    default: return {{512, 256, 256}, 20};
  }
}

class solver {
public:
  solver(const problem& what, int rank, int ranks)
      : what_(what),
        rank_(static_cast<std::size_t>(rank)),
        field_(what.of, ranks),
        beams_(field_.planes().size()),
        decay_x_(decay(what.of.x)),
        decay_y_(decay(what.of.y)),
        decay_z_(decay(what.of.z)) {}

  std::vector<complex> run(std::size_t iterations) {
    begin();
    field_.forward(beams_);
    std::vector<complex> sums(iterations);
    for (complex& sum : sums) {
      const std::size_t first_y = rank_ * field_.wide();
      field_.backward(beams_, [&](complex* at, std::size_t z, std::size_t y, std::size_t x) {
        const double factor = decay_y_[first_y + y] * decay_z_[z];
        for (std::size_t l = 0; l < lines; ++l) at[l] *= factor * decay_x_[x + l];
      });
      sum = checksum();
    }
    return sums;
  }

private:
  // exp(-4 α π² k²): what a step leaves of the waves along one axis. The second half of k is
  // negative.
  static std::vector<double> decay(std::size_t length) {
    std::vector<double> factors(length);
    for (std::size_t i = 0; i < length; ++i) {
      const double k = static_cast<double>(i) - (2 * i < length ? 0 : static_cast<double>(length));
      factors[i] = std::exp(-4e-6 * std::numbers::pi * std::numbers::pi * k * k);
    }
    return factors;
  }

  void begin() {
    const auto& of = what_.of;
    apps::npb::random numbers(2 * of.x * of.y * rank_ * field_.deep());
    for (complex& u : field_.planes()) {
      const double re = numbers.next();
      u = {re, numbers.next()};
    }
  }
  complex checksum() {
    const auto& of = what_.of;
    complex mine = 0, sum = 0;
    for (std::size_t j = 1; j <= 1024; ++j) {
      const std::size_t x = j % of.x, y = 3 * j % of.y, z = 5 * j % of.z;
      if (z / field_.deep() == rank_)
        mine += field_.planes()[(z % field_.deep() * of.y + y) * of.x + x];
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    return sum / static_cast<double>(of.all());
  }

  problem what_;
  std::size_t rank_;
  field field_;
  array<complex> beams_;
  std::vector<double> decay_x_, decay_y_, decay_z_;
};

apps::npb::result run(char size, const apps::npb::mpi& world, const apps::npb::timing& how) {
  const problem what = problem_of(size);
  apps::npb::check_ranks(world.ranks(), static_cast<int>(std::min(what.of.y, what.of.z)));
  solver s(what, world.rank(), world.ranks());
  s.run(1);  // untimed: touches all memory
  std::vector<complex> sums;
  const auto took = apps::npb::measure(world, how, [&] { sums = s.run(what.iterations); });
  const auto official = official_checksums(size);
  bool right = official.size() == sums.size();
  for (std::size_t i = 0; right && i < sums.size(); ++i)
    right = std::abs((sums[i] - official[i]) / official[i]) <= 1e-12;
  nlohmann::json all;
  for (const complex& c : sums) all.push_back({c.real(), c.imag()});
  return {all,
          fmt::format("last checksum = {:.12e} {:+.12e} i", sums.back().real(), sums.back().imag()),
          took, right};
}

}  // namespace

int main(int argc, char** argv) {
  return apps::npb::main(
      argc, argv, "ft",
      "NAS Parallel Benchmarks, kernel FT: Fourier transforms in three dimensions. An MPI program.",
      run);
}
