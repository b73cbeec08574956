// The first rank forks a child that ends by exit(). Prints the child's status, and whether as many
// boards of turns are there as before.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

int boards() {
  int n = 0;
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
    n += file.path().filename().string().starts_with("cleave-cosched-turns") ? 1 : 0;
  return n;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const int before = boards();
    const pid_t child = fork();
    if (child == 0) std::exit(3);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%d %s\n", WEXITSTATUS(status), boards() == before ? "kept" : "lost");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
