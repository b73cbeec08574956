// Stands in front of MPI's functions, under both of their names: MPI_Recv is what a program in C
// calls, PMPI_Recv what the Fortran bindings call, and tools that measure programs. Which ones, and
// which of them wait, is at the end.
#include "cosched/interpose.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cosched/communicators.hpp"
#include "cosched/job.hpp"
#include "cosched/requests.hpp"
#include "preload/mpi_behind.hpp"
#include "preload/stand_in.hpp"

namespace cleave::cosched {

constinit for_ever this_process;

namespace {

constexpr preload::mpi_behind mpi_of_program{"cosched", progress::libraries};

}  // namespace

void* next_function(const char* name) noexcept { return mpi_of_program.find(RTLD_NEXT, name); }
void* object(const char* name) noexcept { return mpi_of_program.find(RTLD_DEFAULT, name); }

namespace {

/// What this rank has started and not completed. Touched by the outermost call of an active rank.
constinit requests open_requests;
communicators& known_communicators() {
  // They live for ever: programs may end MPI when they end themselves.
  static auto& all = *new communicators;
  return all;
}

template <class Request>
requests::handle handle_of(Request r) noexcept {
  if constexpr (std::is_pointer_v<Request>) return reinterpret_cast<std::uintptr_t>(r);
  else return static_cast<requests::handle>(r);
}
MPI_Request no_request() noexcept {
#ifdef OPEN_MPI
  static auto* const none = static_cast<MPI_Request>(object("ompi_request_null"));
  return none;
#else
  return MPI_REQUEST_NULL;
#endif
}
/// The kinds of calls: what a call may do for others and waits for, from its arguments; and which
/// requests it starts or completes. Where nothing is known, everybody may be waiting for it.
///
/// Ranks are known by their numbers in the world.
namespace kinds {

template <std::size_t N, class... A>
const auto& argument(const A&... all) noexcept {
  return std::get<N>(std::tie(all...));
}

struct unknown {
  static constexpr bool tracks = false;
};

/// Calls that start nothing which goes on after them, and complete no requests.
struct nothing_open {
  static constexpr bool tracks = true;
  template <class... A>
  static void begin(const A&...) noexcept {}
  template <class... A>
  static void end(int, const A&...) noexcept {}
};

/// Sends to the rank that is argument 3. Comm: which argument is the communicator.
template <std::size_t Comm>
struct sends : nothing_open {
  template <class... A>
  static rank::call about(const A&... a) noexcept {
    const int to = known_communicators().in_world(argument<Comm>(a...), argument<3>(a...));
    if (to == rank::nobody && argument<3>(a...) >= 0) return {};
    return {false, to, waits_for::anything};
  }
};

/// Waits for a message, or only looks for one.
struct receives : nothing_open {
  template <class... A>
  static rank::call about(const A&...) noexcept {
    return {false, rank::nobody, waits_for::message};
  }
};

struct collective : nothing_open {
  template <class... A>
  static rank::call about(const A&...) noexcept {
    return {false, rank::nobody, waits_for::anything};
  }
};

/// A call that may do anything, for everybody.
struct other {
  template <class... A>
  static rank::call about(const A&...) noexcept {
    return {};
  }
};

/// Starts the request that is its last argument.
template <class About, requests::kind Kind>
struct starts : nothing_open {
  template <class... A>
  static rank::call about(const A&... a) noexcept {
    return About::about(a...);
  }
  template <class... A>
  static void end(int result, const A&... a) noexcept {
    if (result == MPI_SUCCESS)
      open_requests.started(handle_of(*argument<sizeof...(A) - 1>(a...)), Kind);
  }
};

/// Completes requests, or waits for that: `List` of them, or the one that is its first argument.
template <bool List>
struct completes {
  static constexpr bool tracks = true;
  template <class First, class... A>
  static rank::call about(const First& first, const A&... a) noexcept {
    const auto [all, n] = of(first, a...);
    bool receives = true, of_file = false;
    for (int i = 0; i < n; ++i) {
      if (all[i] == no_request()) continue;
      const auto request = handle_of(all[i]);
      receives = receives && open_requests.of(request) == requests::kind::receive;
      of_file = of_file || open_requests.may_be_of_file(request);
    }
    return {false, rank::nobody, receives ? waits_for::message : waits_for::anything, of_file};
  }
  /// Remembers the call's requests: when it ends, those that are completed have no handle any more.
  template <class First, class... A>
  static void begin(const First& first, const A&... a) noexcept {
    const auto [all, n] = of(first, a...);
    remembered = n <= most ? n : 0;  // too many stay open, as far as is known
    for (int i = 0; i < remembered; ++i) before[i] = handle_of(all[i]);
  }
  template <class First, class... A>
  static void end(int, const First& first, const A&... a) noexcept {
    const auto [all, n] = of(first, a...);
    for (int i = 0; i < remembered; ++i)
      if (all[i] == no_request()) open_requests.completed(before[i]);
  }

private:
  static constexpr int most = 128;
  static inline int remembered = 0;
  static inline requests::handle before[most];

  template <class First, class... A>
  static std::pair<MPI_Request*, int> of(const First& first, const A&... a) noexcept {
    if constexpr (List) return {argument<0>(a...), first};
    else return {first, 1};
  }
};

/// A call that frees the communicator that is its first argument. Everybody may wait for that. A
/// library may free its own within the call that frees another, so this is told of all of them.
struct frees : unknown {
  static void begin_any(MPI_Comm* ranks) noexcept { known_communicators().freed(*ranks); }
};

/// Reads or writes a file, together with others or not.
struct file : nothing_open {
  template <class... A>
  static rank::call about(const A&...) noexcept {
    rank::call c;
    c.of_file = true;
    return c;
  }
};

/// A call whose last argument is a new communicator; its ranks may not all be this job's.
struct connects : nothing_open, other {
  template <class... A>
  static void end(int result, const A&... a) noexcept {
    if (result == MPI_SUCCESS && !communicators::is_of_job(*argument<sizeof...(A) - 1>(a...)))
      stand_aside("the job is connected to another");
  }
};

/// A call after which requests may send that are not known here.
struct loses_track : nothing_open {
  template <class... A>
  static rank::call about(const A&...) noexcept {
    open_requests.lose_track();
    return {};
  }
};

using send_started = starts<sends<5>, requests::kind::other>;
using receive_started = starts<receives, requests::kind::receive>;
using other_started = starts<other, requests::kind::other>;
using file_started = starts<other, requests::kind::file>;

}  // namespace kinds

/// A call that is under way. It ends also where an error handler throws.
template <bool Blocking>
class under_way {
public:
  explicit under_way(const void* frame) noexcept
      : counted_(this_rank.begin_call(Blocking, frame)) {}
  ~under_way() {
    if (counted_) this_rank.end_call(Blocking);
  }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;

private:
  const bool counted_;
};

/// A call: told to this_rank, and passed on, to a tool's function of that name if there is one.
template <class Function, class Name, bool Blocking, class Kind>
struct call;
template <class R, class... A, class Name, bool Blocking, class Kind>
struct call<R(A...), Name, Blocking, Kind> {
  static R told(A... arguments) {
    static auto* const real = reinterpret_cast<R (*)(A...)>(next_function(Name::text));
    const under_way<Blocking> counted(__builtin_frame_address(0));
    if constexpr (requires { Kind::begin_any(arguments...); })
      if (this_rank.now_is() == rank::state::active) Kind::begin_any(arguments...);
    const bool tracked = Kind::tracks && this_rank.is_outermost();
    if constexpr (Kind::tracks) {
      if (tracked) {
        rank::call about = Kind::about(arguments...);
        // A rank that has something left to send may send it in any call, and others wait for its
        // help.
        if (!open_requests.only_receives()) about = {.of_file = about.of_file};
        this_rank.describe(about);
        Kind::begin(arguments...);
      }
    }
    const R result = real(arguments...);
    if constexpr (Kind::tracks)
      if (tracked && this_rank.is_outermost()) Kind::end(result, arguments...);
    return result;
  }
};

/// A call after which others than the ranks of this job may be waited for.
template <class Function, class Name>
struct joining;
template <class R, class... A, class Name>
struct joining<R(A...), Name> {
  static R told(A... arguments) {
    static auto* const real = reinterpret_cast<R (*)(A...)>(next_function(Name::text));
    stand_aside("the job is connected to another");
    return real(arguments...);
  }
};

/// The thread level, as MPI itself tells it: the environment may have asked for more than the
/// program has.
int thread_level() {
  static auto* const real =
      reinterpret_cast<decltype(&PMPI_Query_thread)>(next_function("PMPI_Query_thread"));
  int level = MPI_THREAD_MULTIPLE;
  real(&level);
  return level;
}

/// A tool's MPI_Init calls PMPI_Init, which is told of too.
constinit bool has_begun = false, has_ended = false;

template <class Name>
struct init {
  static int told(int* argc, char*** argv) {
    static auto* const real = reinterpret_cast<decltype(&PMPI_Init)>(next_function(Name::text));
    mpi_of_program.check();
    const int result = real(argc, argv);
    if (result == MPI_SUCCESS && !std::exchange(has_begun, true)) begin_job(thread_level());
    return result;
  }
};

template <class Name>
struct init_thread {
  static int told(int* argc, char*** argv, int wanted, int* provided) {
    static auto* const real =
        reinterpret_cast<decltype(&PMPI_Init_thread)>(next_function(Name::text));
    mpi_of_program.check();
    const int result = real(argc, argv, wanted, provided);
    if (result == MPI_SUCCESS && !std::exchange(has_begun, true)) begin_job(*provided);
    return result;
  }
};

template <class Name>
struct finalize {
  static int told() {
    static auto* const real = reinterpret_cast<decltype(&PMPI_Finalize)>(next_function(Name::text));
    if (!std::exchange(has_ended, true)) {
      report_job();
      this_rank.leave_turns();
      this_rank
          .stand_aside();  // what is still to be sent is sent in there, and others may wait for it
    }
    const int result = real();
    this_rank.stop();
    return result;
  }
};

}  // namespace
}  // namespace cleave::cosched

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): names to declare
#define CLEAVE_STAND_INS(type, name) CLEAVE_STAND_INS_OF(cleave::cosched, type, name)
#define CLEAVE_TOLD(name, blocking, kind)                                       \
  namespace cleave::cosched {                                                   \
  namespace {                                                                   \
  template <class Name>                                                         \
  using call_##name = call<decltype(PMPI_##name), Name, blocking, kinds::kind>; \
  }                                                                             \
  }                                                                             \
  CLEAVE_STAND_INS(call_##name, name)
#define BLOCKS(name) CLEAVE_TOLD(name, true, unknown)
#define RETURNS(name) CLEAVE_TOLD(name, false, unknown)
#define SENDS(name, comm) CLEAVE_TOLD(name, true, sends<comm>)
#define RECEIVES(name) CLEAVE_TOLD(name, true, receives)
#define LOOKS(name) CLEAVE_TOLD(name, false, receives)
#define COLLECTS(name) CLEAVE_TOLD(name, true, collective)
#define WAITS(name) CLEAVE_TOLD(name, true, completes<false>)
#define WAITS_FOR_SOME(name) CLEAVE_TOLD(name, true, completes<true>)
#define TESTS(name) CLEAVE_TOLD(name, false, completes<false>)
#define TESTS_SOME(name) CLEAVE_TOLD(name, false, completes<true>)
#define STARTS_SEND(name) CLEAVE_TOLD(name, false, send_started)
#define STARTS_RECEIVE(name) CLEAVE_TOLD(name, false, receive_started)
#define STARTS(name) CLEAVE_TOLD(name, false, other_started)
#define LOSES_TRACK(name, blocking) CLEAVE_TOLD(name, blocking, loses_track)
#define FREES(name) CLEAVE_TOLD(name, true, frees)
#define FILES(name) CLEAVE_TOLD(name, true, file)
#define STARTS_FILE(name) CLEAVE_TOLD(name, false, file_started)
#define CONNECTS(name) CLEAVE_TOLD(name, true, connects)
#define JOINS(name)                                         \
  namespace cleave::cosched {                               \
  namespace {                                               \
  template <class Name>                                     \
  using join_##name = joining<decltype(PMPI_##name), Name>; \
  }                                                         \
  }                                                         \
  CLEAVE_STAND_INS(join_##name, name)
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

CLEAVE_STAND_INS(init, Init)
CLEAVE_STAND_INS(init_thread, Init_thread)
CLEAVE_STAND_INS(finalize, Finalize)
#include "cosched/calls.hpp"
#if MPI_VERSION >= 4
#include "cosched/calls_mpi4.hpp"
#endif
