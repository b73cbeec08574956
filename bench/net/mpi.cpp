// Plain MPI, as what MPI_Send, MPI_Barrier and MPI_Bcast give.
#include <mpi.h>

#include <cstdlib>
#include <vector>

#include "program.hpp"

namespace {

using message = std::span<const std::byte>;

int length(message m) { return static_cast<int>(m.size()); }

class mpi final : public bench::net::network {
public:
  mpi() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  ~mpi() override { MPI_Finalize(); }
  mpi(const mpi&) = delete;
  mpi& operator=(const mpi&) = delete;

  std::string name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  void send(int to, message m) override {
    MPI_Send(m.data(), length(m), MPI_BYTE, to, 0, MPI_COMM_WORLD);
  }
  void post(int to, message m) override {
    MPI_Isend(m.data(), length(m), MPI_BYTE, to, 0, MPI_COMM_WORLD, &begun_.emplace_back());
  }
  void complete() override {
    MPI_Waitall(static_cast<int>(begun_.size()), begun_.data(), MPI_STATUSES_IGNORE);
    begun_.clear();
  }
  void receive(int from, std::span<std::byte> m) override {
    MPI_Recv(m.data(), length(m), MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  [[noreturn]] void give_up(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }
  bool has_broadcast() const override { return true; }
  void broadcast(std::span<std::byte> m) override {
    MPI_Bcast(m.data(), length(m), MPI_BYTE, 0, MPI_COMM_WORLD);
  }

private:
  int rank_ = 0, ranks_ = 1;
  std::vector<MPI_Request> begun_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::net::main(argc, argv, [](int) { return std::make_unique<mpi>(); });
}
