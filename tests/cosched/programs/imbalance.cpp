// Rank 0 computes, the others wait for it in several calls. Prints the CPU time that the waiting
// took, on the average of the other ranks, and how long it was. Usage: imbalance MILLISECONDS
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

namespace {

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void compute(double time) {
  for (const double end = seconds(CLOCK_MONOTONIC) + time; seconds(CLOCK_MONOTONIC) < end;)
    continue;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double each = argc > 1 ? std::atof(argv[1]) * 1e-3 / 3 : 0.1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
  int token = 0;
  if (rank == 0) {
    compute(each);
    for (int i = 1; i < ranks; ++i) MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    compute(each);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) compute(each);
  MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  double mine[2] = {rank == 0 ? 0 : seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
                    seconds(CLOCK_MONOTONIC) - wall};
  double sums[2];
  MPI_Reduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.4f %.4f\n", sums[0] / (ranks - 1), sums[1] / ranks);
  MPI_Finalize();
}
