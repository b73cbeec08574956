// Every kind of blocking call, with results that show a change of algorithm: sums of numbers of
// very different sizes. Prints one number made of all bits that came out. Usage: calls [ROUNDS]
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

int rank, ranks;
std::uint64_t hash = 14695981039346656037u;

using numbers = std::vector<double>;

void keep(const void* what, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(what);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 1099511628211u;
}
void keep(const numbers& v) { keep(v.data(), v.size() * sizeof v[0]); }

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("WRONG: %s on rank %d of %d\n", what, rank, ranks);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

numbers made(int count, int seed) {
  std::uint64_t x = static_cast<std::uint64_t>(seed * 7919 + rank * 104729 + 1) * 2654435761u + 1;
  numbers v(static_cast<std::size_t>(count));
  for (double& d : v) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    d = std::ldexp(static_cast<double>(x >> 11), static_cast<int>(x % 80) - 90);
    if ((x & 64) != 0) d = -d;
  }
  return v;
}
std::size_t z(int n) { return static_cast<std::size_t>(n); }

void sums(int n) {
  const numbers mine = made(n, n);
  numbers to(z(n)), part(z(n)), all(z(n * ranks));
  MPI_Allreduce(mine.data(), to.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), keep(to);
  MPI_Reduce(mine.data(), part.data(), n, MPI_DOUBLE, MPI_SUM, ranks - 1, MPI_COMM_WORLD),
      keep(part);
  MPI_Scan(mine.data(), to.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), keep(to);
  MPI_Exscan(mine.data(), part.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank > 0) keep(part);
  const numbers wide = made(n * ranks, n + 1);
  MPI_Reduce_scatter_block(wide.data(), to.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
      keep(to);
  const std::vector<int> counts(z(ranks), n);
  MPI_Reduce_scatter(wide.data(), to.data(), counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  keep(to);
}

void moves(int n) {
  const numbers mine = made(n, n), wide = made(n * ranks, n + 2);
  numbers one(z(n)), all(z(n * ranks));
  MPI_Gather(mine.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Scatter(all.data(), n, MPI_DOUBLE, one.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  require(one == mine, "MPI_Gather, MPI_Scatter");
  MPI_Allgather(mine.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, MPI_COMM_WORLD), keep(all);
  MPI_Alltoall(wide.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, MPI_COMM_WORLD), keep(all);
  std::vector<int> counts(z(ranks), n), places(z(ranks));
  for (int i = 0; i < ranks; ++i) places[z(i)] = (ranks - 1 - i) * n;
  MPI_Allgatherv(mine.data(), n, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE,
                 MPI_COMM_WORLD);
  keep(all);
  MPI_Alltoallv(wide.data(), counts.data(), places.data(), MPI_DOUBLE, all.data(), counts.data(),
                places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  keep(all);
  one = made(n, 5);
  MPI_Bcast(one.data(), n, MPI_DOUBLE, ranks / 2, MPI_COMM_WORLD), keep(one);
}

// Round a ring, by each way to send.
void messages(int n) {
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  const numbers mine = made(n, n + 3);
  numbers got(z(n));
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Sendrecv(mine.data(), n, MPI_DOUBLE, to, 1, got.data(), n, MPI_DOUBLE, from, 1,
               MPI_COMM_WORLD, &status);
  keep(got);
  if (rank == 0) {  // one after the other
    MPI_Ssend(mine.data(), n, MPI_DOUBLE, to, 2, MPI_COMM_WORLD);
    MPI_Probe(from, 2, MPI_COMM_WORLD, &status);
    MPI_Recv(got.data(), n, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(got.data(), n, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &status);
    MPI_Send(mine.data(), n, MPI_DOUBLE, to, 2, MPI_COMM_WORLD);
  }
  keep(got);
  MPI_Irecv(got.data(), n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(mine.data(), n, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &requests[1]);
  if (n % 2 == 0) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    int which = 0;
    MPI_Waitany(2, requests, &which, &status);
    MPI_Waitany(2, requests, &which, &status);
  }
  keep(got);
  MPI_Message message;
  MPI_Isend(mine.data(), n, MPI_DOUBLE, to, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Mprobe(from, 4, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(got.data(), n, MPI_DOUBLE, &message, &status);
  MPI_Wait(&requests[0], &status);
  keep(got);
  int done = 0;
  MPI_Isend(mine.data(), n, MPI_DOUBLE, to, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(got.data(), n, MPI_DOUBLE, from, 5, MPI_COMM_WORLD, &requests[1]);
  while (done == 0) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  keep(got);
#if MPI_VERSION >= 4
  MPI_Isendrecv(mine.data(), n, MPI_DOUBLE, to, 6, got.data(), n, MPI_DOUBLE, from, 6,
                MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], &status);
  keep(got);
  MPI_Irecv_c(got.data(), n, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_c(mine.data(), n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], &status);
  keep(got);
#endif
}

// One-sided; the target is meanwhile inside another call.
void one_sided(int n) {
  numbers memory = made(n, n + 4), got(z(n));
  const numbers mine = made(n, n + 5);
  MPI_Win window;
  MPI_Win_create(memory.data(), n * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(mine.data(), n, MPI_DOUBLE, (rank + 1) % ranks, 0, n, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  keep(memory);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int other = 0; other < ranks; ++other) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, window);
      MPI_Accumulate(mine.data(), n, MPI_DOUBLE, other, 0, n, MPI_DOUBLE, MPI_SUM, window);
      MPI_Win_flush(other, window);
      MPI_Get(got.data(), n, MPI_DOUBLE, other, 0, n, MPI_DOUBLE, window);
      MPI_Win_unlock(other, window);
      keep(got);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  keep(memory);
}

void communicators() {
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &copy);
  double sum = 0, mine = made(1, 9)[0];
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, copy);
  keep(&sum, sizeof sum);
  // Round its ring: its ranks have other numbers than in the world. Each waits for a message only.
  int here = 0, all = 0, token = 0;
  MPI_Comm_rank(copy, &here), MPI_Comm_size(copy, &all);
  for (int k = 0; k < 100 && all > 1; ++k) {
    const int to = (here + 1) % all, from = (here + all - 1) % all;
    if (here == 0) MPI_Send(&token, 1, MPI_INT, to, k, copy);
    MPI_Recv(&token, 1, MPI_INT, from, k, copy, MPI_STATUS_IGNORE);
    ++token;
    if (here != 0) MPI_Send(&token, 1, MPI_INT, to, k, copy);
  }
  keep(&token, sizeof token);
  MPI_Comm_free(&copy), MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const bool windows = argc <= 2;  // some MPIs have no one-sided calls over TCP
  for (int i = 0; i < rounds; ++i) {
    for (const int n : {0, 1, 2, 7, 129, 1'025, 20'000}) {
      if (n > 0) sums(n), moves(n);
      if (n > 0 && windows) one_sided(n);
      messages(n);
    }
    for (const int n : {200'001}) messages(n);
    communicators();
    for (int k = 0; k < 200; ++k) MPI_Barrier(MPI_COMM_WORLD);
  }
  std::uint64_t all = 0, mine = hash * (2 * static_cast<std::uint64_t>(rank) + 1);
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%016llx\n", static_cast<unsigned long long>(all));
  MPI_Finalize();
}
