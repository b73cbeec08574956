#include "mpi/posted_receives.hpp"

#include "mpi/survival.hpp"

namespace cleave::net::mpi {

int posted_receives::post() {
  while (end_ - oldest_ < places) {
    place& next = at(end_);
    next.message.resize(longest_);
    const int code = MPI_Irecv(next.message.data(), static_cast<int>(longest_), MPI_BYTE,
                               MPI_ANY_SOURCE, MPI_ANY_TAG, over_, &next.request);
    if (code != MPI_SUCCESS) return code;
    ++end_;
  }
  return MPI_SUCCESS;
}

int posted_receives::next(std::optional<incoming>& found) {
  if (const int code = post(); code != MPI_SUCCESS) return code;
  place& oldest = at(oldest_);
  int done = 0;
  MPI_Status status;
  const int code = MPI_Test(&oldest.request, &done, &status);
  if (done == 0) {
    if (oldest.request == MPI_REQUEST_NULL) ++oldest_;  // it has failed, and is posted anew
    return code;
  }
  ++oldest_;  // it is posted anew by the next call: who reads this message need not wait for that
  // Open MPI tells of a loss that this receive has outlived, and leaves the request to its owner.
  if (oldest.request != MPI_REQUEST_NULL) MPI_Request_free(&oldest.request);
  if (code != MPI_SUCCESS && !tells_that_it_waits(code)) return code;
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  found = incoming{static_cast<address>(status.MPI_SOURCE),
                   bytes(oldest.message.begin(), oldest.message.begin() + length)};
  return MPI_SUCCESS;
}

void posted_receives::cancel() {
  for (; oldest_ != end_; ++oldest_) {
    MPI_Request& request = at(oldest_).request;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace cleave::net::mpi
