// MPI_THREAD_MULTIPLE: on every rank a second thread receives while the first one waits for its own
// message, which comes only after the second one's answer. With an argument: by MPI_Init, where the
// environment asks for threads.
#include <mpi.h>

#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
  int level = 0, rank = 0, ranks = 1;
  if (argc == 1) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  else MPI_Init(&argc, &argv), MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (level != MPI_THREAD_MULTIPLE) {
    if (rank == 0) std::printf("no threads\n");
    MPI_Finalize();
    return 0;
  }
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  int sum = 0;
  for (int i = 0; i < 100; ++i) {
    std::thread second([&] {
      int asked = 0;
      MPI_Recv(&asked, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++asked;
      MPI_Send(&asked, 1, MPI_INT, from, 2, MPI_COMM_WORLD);
    });
    int answer = i;
    MPI_Send(&answer, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += answer;
    second.join();
  }
  if (rank == 0) std::printf("%d\n", sum);
  MPI_Finalize();
}
