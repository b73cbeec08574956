// Writes a file by all ranks, each for itself and then together: files FILE.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) return 2;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int bytes = 1 << 20, times = 20;
  std::vector<char> block(bytes);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS)
    return 1;
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    std::fill(block.begin(), block.end(), static_cast<char>('a' + i));
    const MPI_Offset at = MPI_Offset{bytes} * (i * ranks + rank);
    if (i % 2 == 0) {
      MPI_Request written;
      MPI_File_iwrite_at(file, at, block.data(), bytes, MPI_CHAR, &written);
      MPI_Wait(&written, MPI_STATUS_IGNORE);
    } else {
      MPI_File_write_at_all(file, at, block.data(), bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    }
  }
  const double seconds = MPI_Wtime() - begin;
  MPI_File_close(&file);
  if (rank == 0) std::printf("%.3f\n", seconds), std::fflush(stdout);
  MPI_Finalize();
}
