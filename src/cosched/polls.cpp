// Stands in front of poll() and epoll_wait(), by which MPI asks without waiting whether other nodes
// have sent something: Open MPI by poll() within libevent, MPICH by epoll_wait() within UCX. (Both
// can be told to use the other one.)
#include <poll.h>
#include <sys/epoll.h>
#include <utility>

#include "cosched/interpose.hpp"

namespace cleave::cosched::progress {

descriptors& asked = *new descriptors;  // for ever: programs may end MPI when they end themselves
namespace {
thread_local bool looking = false;
}

void begin_look() noexcept {
  // Aside, several threads may look at once.
  if (!asked.is_watched() || here.now_is() == rank::state::aside) return;
  asked.begin_look();
  looking = true;
}
bool end_look() noexcept { return std::exchange(looking, false) && asked.some_ready(); }

}  // namespace cleave::cosched::progress

using namespace cleave::cosched;

extern "C" [[gnu::visibility("default")]] int poll(pollfd* all, nfds_t n, int timeout) {
  static auto* const real = reinterpret_cast<decltype(&poll)>(next_function("poll"));
  const int ready = real(all, n, timeout);
  if (progress::looking && timeout == 0) progress::asked.asked(all, n, ready);
  return ready;
}

extern "C" [[gnu::visibility("default")]] int epoll_wait(int epoll, epoll_event* events, int most,
                                                         int timeout) {
  static auto* const real = reinterpret_cast<decltype(&epoll_wait)>(next_function("epoll_wait"));
  const int ready = real(epoll, events, most, timeout);
  if (progress::looking && timeout == 0) progress::asked.asked(epoll, ready);
  return ready;
}
