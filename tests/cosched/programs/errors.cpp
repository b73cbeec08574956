// Error handlers that do not return: one throws, one jumps. After that two ranks wait 50 times
// for each other, who computes for a millisecond.
#include <mpi.h>

#include <csetjmp>
#include <cstdio>

namespace {

std::jmp_buf before_call;

void throws(MPI_Comm*, int* code, ...) { throw *code; }
void jumps(MPI_Comm*, int*, ...) { std::longjmp(before_call, 1); }

void handle_errors_by(MPI_Comm_errhandler_function* how) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(how, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
}
void send(int to) {
  int none = 0;
  MPI_Send(&none, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}
void compute(double seconds) {
  for (const double until = MPI_Wtime() + seconds; MPI_Wtime() < until;) continue;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  constexpr int nobody = 1'000;
  static int thrown = 0, jumped = 0, tried = 0;
  handle_errors_by(throws);
  for (int i = 0; i < 10; ++i) try {
      send(nobody);
    } catch (int) { ++thrown; }
  handle_errors_by(jumps);
  while (tried < 10) {
    ++tried;
    if (setjmp(before_call) == 0) send(nobody);
    else ++jumped;
  }
  for (int i = 0; i < 50; ++i) {
    int none = 0;
    if (rank == 0) compute(1e-3), send(1);
    if (rank < 2) MPI_Recv(&none, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) compute(1e-3), send(0);
  }
  if (rank == 0) std::printf("%d thrown, %d jumped\n", thrown, jumped), std::fflush(stdout);
  MPI_Finalize();
}
