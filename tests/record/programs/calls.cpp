// Three ranks, with messages of each kind whose number and bytes record.sh knows. The argument is
// the exit status.
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int ranks = 3;
constexpr useconds_t pause = 50'000;
int rank;
char buffer[65536];

void send(int from, int to, int bytes, int tag, MPI_Comm in = MPI_COMM_WORLD) {
  if (rank == from) MPI_Send(buffer, bytes, MPI_CHAR, to, tag, in);
}
void receive(int to, int from, int tag, MPI_Comm in = MPI_COMM_WORLD) {
  if (rank == to) MPI_Recv(buffer, sizeof buffer, MPI_CHAR, from, tag, in, MPI_STATUS_IGNORE);
}

// Rank 1 waits for rank 0. 1 message, 64 bytes, a collective call.
void late_sender() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) usleep(pause);
  send(0, 1, 64, 5);
  receive(1, 0, 5);
}

// 2 messages, 8 bytes; a collective call, before which nothing else is sent.
void wildcards() {
  send(1, 0, 4, 7);
  send(2, 0, 4, 8);
  for (int i = 0; i < 2; ++i) receive(0, MPI_ANY_SOURCE, MPI_ANY_TAG);
  send(rank, MPI_PROC_NULL, 1000, 0);
  receive(rank, MPI_PROC_NULL, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

// 3 messages, 24000 bytes; one receive is cancelled.
void ring() {
  static char to[8000];
  MPI_Request all[3];
  MPI_Irecv(buffer, 8000, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &all[0]);
  MPI_Isend(to, 1000, MPI_DOUBLE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &all[1]);
  MPI_Irecv(buffer, 8000, MPI_CHAR, 0, 99, MPI_COMM_WORLD, &all[2]);
  MPI_Cancel(&all[2]);
  MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
}

// Rank 2 waits for rank 0 in another communicator, where the message has the same tag. 4 messages,
// 332 bytes, 4 collective calls.
void communicators() {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  send(0, 2, 100, 9);
  if (rank == 0) usleep(pause);
  if (rank != 1) {
    send(0, 1, 200, 9, half);
    receive(2, 0, 9, half);
    receive(2, 0, 9);
    MPI_Sendrecv_replace(buffer, 16, MPI_CHAR, 1 - rank / 2, 4, 1 - rank / 2, 4, half,
                         MPI_STATUS_IGNORE);
  }
  MPI_Comm again;
  MPI_Comm_dup(half, &again);  // once in each half
  int one = 1, sum = 0;
  if (rank != 1) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again);
  MPI_Comm_free(&again);
  MPI_Comm_free(&half);
}

int free_kept(MPI_Comm, int, void* kept, void*) {
  return MPI_Comm_free(static_cast<MPI_Comm*>(kept));
}

// A communicator is freed within the call that frees another one; then others get their handles. 2
// messages, 16 bytes, 6 collective calls.
void kept_communicator() {
  MPI_Comm kept, keeper, later[2];
  int key;
  MPI_Comm_dup(MPI_COMM_SELF, &kept);  // three times
  MPI_Comm_dup(MPI_COMM_WORLD, &keeper);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_kept, &key, nullptr);
  MPI_Comm_set_attr(keeper, key, &kept);
  MPI_Comm_free(&keeper);
  for (MPI_Comm& c : later) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  for (MPI_Comm& c : later) send(0, 1, 8, 12, c), receive(1, 0, 12, c), MPI_Comm_free(&c);
}

// 3 messages, 56 bytes.
void looks() {
  send(1, 2, 12, 2);
  if (rank == 2)
    for (int found = 0; found == 0;) MPI_Iprobe(1, 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  receive(2, 1, 2);
  send(1, 0, 20, 3);
  if (rank == 0) {
    MPI_Message message;
    MPI_Mprobe(1, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(buffer, 20, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  }
  send(0, 1, 24, 4);
  if (rank == 1) {
    MPI_Request r;
    MPI_Irecv(buffer, 24, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &r);
    for (int done = 0; done == 0;) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
  }
}

// 1 message, 48 bytes, with a large count where MPI has them.
void large_counts() {
#if MPI_VERSION >= 4
  if (rank == 2) MPI_Send_c(buffer, 48, MPI_CHAR, 0, 11, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv_c(buffer, 48, MPI_CHAR, 2, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
  send(2, 0, 48, 11);
  receive(0, 2, 11);
#endif
}

// 3 messages, 12 bytes.
void persistent() {
  if (rank == 2) return;
  MPI_Request r;
  if (rank == 0) MPI_Send_init(buffer, 4, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &r);
  else MPI_Recv_init(buffer, 4, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &r);
  for (int i = 0; i < 3; ++i) MPI_Start(&r), MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Request_free(&r);
}

// What Fortran calls. 1 message, 32 bytes, sent after the receiver has begun.
void other_names() {
  if (rank == 1)
    usleep(1000), PMPI_Recv(buffer, 32, MPI_CHAR, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 2) PMPI_Ssend(buffer, 32, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
}

// A call of another thread.
void other_thread() {
  std::thread([] { send(rank, MPI_PROC_NULL, 1, 0); }).join();
}

// 6 collective calls.
void collectives() {
  std::vector<int> own(ranks, rank), all(3 * ranks);
  MPI_Bcast(own.data(), ranks, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(own.data(), ranks, MPI_INT, all.data(), ranks, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), ranks, MPI_INT, MPI_COMM_WORLD);
  MPI_Scan(own.data(), all.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request r;
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  const int counts[] = {1, 1, 1}, places[] = {0, 1, 2};
  MPI_Allgatherv(own.data(), 1, MPI_INT, all.data(), counts, places, MPI_INT, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  late_sender(), wildcards(), ring(), communicators(), looks(), persistent(), other_names();
  kept_communicator(), large_counts(), other_thread(), collectives();
  MPI_Finalize();
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
