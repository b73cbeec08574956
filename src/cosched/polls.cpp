// Stands in front of poll() and epoll_wait(), by which MPI asks without waiting whether other nodes
// have sent something: Open MPI by poll() within libevent, MPICH by epoll_wait() within UCX. (Both
// can be told to use the other one.)
#include <poll.h>
#include <sys/epoll.h>
#include <atomic>
#include <cerrno>
#include <utility>

#include "cosched/interpose.hpp"

namespace cleave::cosched::progress {

// They live for ever: programs may end MPI when they end themselves.
descriptors& asked = *new descriptors;
namespace {
thread_local bool looking = false;
}

void begin_look() noexcept {
  // In a rank that stands aside several threads may look at once; and MPI may have a thread that
  // looks.
  if (!asked.is_watched() || this_rank.now_is() == rank::state::aside ||
      !this_rank.is_called_here())
    return;
  asked.begin_look();
  looking = true;
}
bool end_look() noexcept { return std::exchange(looking, false) && asked.some_ready(); }

}  // namespace cleave::cosched::progress

using namespace cleave::cosched;

namespace {

using poll_function = int (*)(pollfd*, nfds_t, int);
using epoll_wait_function = int (*)(int, epoll_event*, int, int);
constinit std::atomic<poll_function> real_poll = nullptr;
constinit std::atomic<epoll_wait_function> real_epoll_wait = nullptr;

/// Called when this library is loaded: poll() may be called by a handler of signals, where nothing
/// can be looked up.
[[gnu::constructor]] void look_up() noexcept {
  real_poll = reinterpret_cast<poll_function>(next_function("poll"));
  real_epoll_wait = reinterpret_cast<epoll_wait_function>(next_function("epoll_wait"));
}
/// The constructor of another library may need the function before look_up() was called.
template <class Function>
Function found(const std::atomic<Function>& real) noexcept {
  if (real == nullptr) look_up();
  return real;
}

/// Tells what MPI has asked about. Keeps errno, and leaves out what a handler of signals asks
/// meanwhile.
template <class... A>
void tell(A... asked) {
  const int error = errno;
  progress::looking = false;
  progress::asked.asked(asked...);
  progress::looking = true;
  errno = error;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int poll(pollfd* all, nfds_t n, int timeout) {
  const int ready = found(real_poll)(all, n, timeout);
  if (progress::looking && timeout == 0) tell(all, n, ready);
  return ready;
}

extern "C" [[gnu::visibility("default")]] int epoll_wait(int epoll, epoll_event* events, int most,
                                                         int timeout) {
  const int ready = found(real_epoll_wait)(epoll, events, most, timeout);
  if (progress::looking && timeout == 0) tell(epoll, ready);
  return ready;
}
