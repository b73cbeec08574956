#pragma once

#include <ctime>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "record/mpi.hpp"
#include "record/rank_writer.hpp"

namespace cleave::record {

inline std::uint64_t now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// A communicator that has been used. It stays known after it is freed: requests may refer to it.
struct communicator {
  std::uint32_t number = 0;
  bool between_groups = false;
  std::vector<int> of_world;  // the ranks, or those of the other group, in MPI_COMM_WORLD
  int in_world(int rank) const noexcept {
    const auto at = static_cast<std::size_t>(rank);
    return rank >= 0 && at < of_world.size() ? of_world[at] : -1;
  }
};

/// A request that is not completed.
struct open_request {
  entry about{};                     // what is written when it starts
  const communicator* of = nullptr;  // of a message
  bool persistent = false;
  bool is_receive() const noexcept { return about.what == entry::kind::receive; }
};

/// What this process has recorded. Used by the thread that has begun MPI, outside of MPI's own
/// calls.
class recorder {
public:
  void begin(int rank, int ranks, const char* folder);
  void end(unsigned calls_of_other_threads);
  bool is_recording() const noexcept { return writer_.is_open(); }
  int rank() const noexcept { return rank_; }

  /// Writes that a call has ended; what is put() until the next one belongs to it. `looks`: it may
  /// have been made again and again until there was something.
  void call(const void* from, const char* function, std::uint64_t began, std::uint64_t ended,
            bool looks);
  /// A call that looks has found nothing.
  void looked_in_vain(std::uint64_t began, std::uint64_t ended) noexcept;
  void put(const entry& e) noexcept { writer_.put(e); }

  const communicator& known(MPI_Comm ranks);
  void freed(MPI_Comm ranks) { numbers_.erase(number_of(ranks)); }

  void add_request(MPI_Request r, const open_request& about) { requests_[number_of(r)] = about; }
  /// Writes the beginning of a request; gives it a new number.
  void start(open_request& about);
  /// Null if it is not known.
  open_request* find_request(std::uint64_t handle);
  void forget_request(std::uint64_t handle) { requests_.erase(handle); }
  /// Writes that a request is completed, and forgets it.
  void completed(std::uint64_t handle, const MPI_Status& status);

private:
  std::uint32_t site(const void* from, const char* function);
  const communicator& add(MPI_Comm ranks);

  rank_writer writer_;
  int rank_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> sites_;    // by address and function
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // of communicators, by handle
  std::vector<std::unique_ptr<communicator>> communicators_;
  std::unordered_map<std::uint64_t, unsigned> same_members_;  // communicators, by their hash
  std::unordered_map<std::uint64_t, open_request> requests_;  // by handle
  std::uint64_t last_request_ = 0;
  std::uint64_t in_vain_since_ = 0, in_vain_until_ = 0;  // calls one right after the other
};

}  // namespace cleave::record
