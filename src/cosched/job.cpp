#include "cosched/job.hpp"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "cosched/clock.hpp"
#include "cosched/communicators.hpp"
#include "cosched/costs.hpp"
#include "cosched/interpose.hpp"
#include "machine/saved_file.hpp"
#include "machine/settings.hpp"

namespace cleave::cosched {
namespace {

constexpr nanoseconds longest_measurement = 4'000'000;
constexpr int most_name = 64;

costs measured{};
policy chosen = policy::two_phase;
bool reports = false;

// Open MPI's handles are addresses in its library, which may be loaded later than this one.
#ifdef OPEN_MPI
#define CLEAVE_HANDLE(type, name, constant, symbol) \
  const type name = static_cast<type>(object(symbol))
#else
#define CLEAVE_HANDLE(type, name, constant, symbol) const type name = constant
#endif

// NOLINTBEGIN(bugprone-macro-parentheses): names to declare
#define CLEAVE_REAL(name)             \
  const decltype(&PMPI_##name) name = \
      reinterpret_cast<decltype(&PMPI_##name)>(next_function("PMPI_" #name))
// NOLINTEND(bugprone-macro-parentheses)

/// MPI's own functions, which this library stands in front of.
struct mpi_functions {
  // NOLINTBEGIN(readability-identifier-naming): MPI's own names
  CLEAVE_REAL(Comm_rank);
  CLEAVE_REAL(Comm_size);
  CLEAVE_REAL(Comm_split);
  CLEAVE_REAL(Comm_split_type);
  CLEAVE_REAL(Comm_free);
  CLEAVE_REAL(Comm_get_parent);
  CLEAVE_REAL(Send);
  CLEAVE_REAL(Recv);
  CLEAVE_REAL(Bcast);
  CLEAVE_REAL(Allreduce);
  CLEAVE_REAL(Reduce);
  CLEAVE_REAL(Finalize);
  // NOLINTEND(readability-identifier-naming)
};
struct mpi_handles {
  CLEAVE_HANDLE(MPI_Comm, world, MPI_COMM_WORLD, "ompi_mpi_comm_world");
  CLEAVE_HANDLE(MPI_Comm, no_ranks, MPI_COMM_NULL, "ompi_mpi_comm_null");
  CLEAVE_HANDLE(MPI_Info, no_info, MPI_INFO_NULL, "ompi_mpi_info_null");
  CLEAVE_HANDLE(MPI_Datatype, byte, MPI_BYTE, "ompi_mpi_byte");
  CLEAVE_HANDLE(MPI_Datatype, int64, MPI_INT64_T, "ompi_mpi_int64_t");
  CLEAVE_HANDLE(MPI_Op, least, MPI_MIN, "ompi_mpi_op_min");
  CLEAVE_HANDLE(MPI_Op, sum, MPI_SUM, "ompi_mpi_op_sum");
};
struct mpi : mpi_functions, mpi_handles {};
#undef CLEAVE_REAL
#undef CLEAVE_HANDLE

int rank_in(const mpi& m, MPI_Comm ranks) {
  int r = 0;
  m.Comm_rank(ranks, &r);
  return r;
}
int size_of(const mpi& m, MPI_Comm ranks) {
  int n = 0;
  m.Comm_size(ranks, &n);
  return n;
}
/// The least of what the ranks say; on each of them.
std::int64_t least_of(const mpi& m, std::int64_t mine, MPI_Comm ranks) {
  std::int64_t least = 0;
  m.Allreduce(&mine, &least, 1, m.int64, m.least, ranks);
  return least;
}
bool all(const mpi& m, bool mine, MPI_Comm ranks) { return least_of(m, mine ? 1 : 0, ranks) != 0; }

struct settings {
  policy by = policy::two_phase;
  nanoseconds spin = -1, free_spin = -1;   // -1: not given; the variables are in microseconds
  nanoseconds turn = turns::usual_length;  // 0: none; the variable is in milliseconds
  bool report = false;                     // all ranks take part in it
};

/// The file for the report; null if none is wanted.
const char* report_file() noexcept {
  const char* const where = std::getenv("CLEAVE_COSCHED_REPORT");
  return where != nullptr && *where != '\0' ? where : nullptr;
}

/// Reads the environment. Throws std::invalid_argument.
settings read_settings() {
  settings s;
  const char* const name = std::getenv("CLEAVE_COSCHED_POLICY");
  if (name != nullptr && *name != '\0') {
    const auto p = policy_named(name);
    if (!p)
      throw std::invalid_argument(
          std::string(
              "CLEAVE_COSCHED_POLICY: expected spin, block, two-phase, logp or adaptive, got '") +
          name + "'");
    s.by = *p;
  }
  const long spin = machine::environment("CLEAVE_COSCHED_SPIN", 0, 1'000'000, -1);
  if (spin >= 0) s.spin = spin * 1'000;
  const long free_spin = machine::environment("CLEAVE_COSCHED_FREE_SPIN", 0, 1'000'000, -1);
  if (free_spin >= 0) s.free_spin = free_spin * 1'000;
  const long turn = machine::environment("CLEAVE_COSCHED_TURN", 0, 10'000, -1);
  if (turn >= 0) s.turn = turn * 1'000'000;
  s.report = report_file() != nullptr;
  return s;
}

/// The settings of the first rank, which are all ranks'. The job ends if those of any rank cannot
/// be used: not by MPI_Abort(), after which MPICH's launcher may lose what was printed.
settings settings_of_job(const mpi& m) {
  settings mine;
  std::string wrong;
  try {
    mine = read_settings();
  } catch (const std::invalid_argument& e) { wrong = e.what(); }
  const int me = rank_in(m, m.world), none = size_of(m, m.world);
  const std::int64_t first = least_of(m, wrong.empty() ? none : me, m.world);
  if (first == none) {
    m.Bcast(&mine, sizeof mine, m.byte, 0, m.world);  // ranks' environments may differ
    return mine;
  }
  if (first == me) std::fprintf(stderr, "cosched: %s\n", wrong.c_str());
  m.Finalize();
  std::exit(2);
}

/// The first rank makes the memory, the others open it by its name. Null on all of them if one
/// fails.
std::unique_ptr<node> share_node(const mpi& m, MPI_Comm on_node) {
  const int me = rank_in(m, on_node), ranks = size_of(m, on_node);
  std::unique_ptr<node> shared;
  char name[most_name] = "";
  if (me == 0 && static_cast<unsigned>(ranks) <= node::most_ranks) {
    shared = node::make(static_cast<unsigned>(ranks));
    if (shared != nullptr) std::snprintf(name, sizeof name, "%s", shared->name().c_str());
  }
  m.Bcast(name, most_name, m.byte, 0, on_node);
  if (me != 0 && name[0] != '\0') shared = node::open(name, static_cast<unsigned>(ranks));
  const bool complete = all(m, shared != nullptr, on_node);
  if (me == 0 && shared != nullptr) shared->forget_name();
  if (!complete) shared.reset();
  return shared;
}

/// The nth of these CPUs, if this rank may use it; or -1.
int own_cpu(const cpu_bits& cpus, int n) noexcept {
  cpu_set_t may;
  if (sched_getaffinity(0, sizeof may, &may) != 0) return -1;
  for (unsigned i = 0; i < 64 * cpus.size(); ++i)
    if ((cpus[i / 64] >> i % 64 & 1) != 0 && n-- == 0)
      return CPU_ISSET(i, &may) ? static_cast<int>(i) : -1;
  return -1;
}

/// The place where jobs meet that have a rank for each of the same CPUs; null on all ranks if this
/// job has not, or there is no such place. All its ranks are on this node.
std::unique_ptr<turn_place> share_turns(const mpi& m, const node& shared, MPI_Comm on_node) {
  const int me = rank_in(m, on_node);
  if (size_of(m, on_node) != static_cast<int>(shared.cpus())) return nullptr;
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, by words
  for (const std::uint64_t bits : shared.used_cpus()) hash = (hash ^ bits) * 0x100000001b3u;
  char name[most_name];
  std::snprintf(name, sizeof name, "/cleave-cosched-turns-4-%u-%016llx",
                static_cast<unsigned>(geteuid()), static_cast<unsigned long long>(hash));
  std::unique_ptr<turn_place> place;
  if (me == 0) place = turn_place::take(name);
  if (me == 0 && place == nullptr && turn_place::is_anothers(name))
    std::fprintf(stderr, "cosched: /dev/shm%s is another user's: no turns\n", name);
  unsigned number = place != nullptr ? place->number() : 0;
  m.Bcast(&number, sizeof number, m.byte, 0, on_node);
  if (me != 0 && number != 0) place = turn_place::open(name, number);
  if (!all(m, place != nullptr, on_node)) place.reset();
  return place;
}

/// One rank of each node measures; meanwhile the others sleep, and not in MPI, where they would
/// spin.
costs share_costs(node& shared, int me) {
  if (me == 0) shared.tell(measure_costs(longest_measurement));
  return shared.await_costs();
}

/// How long the shortest message takes there and back, between the first two ranks of a node: the
/// least of some, because others may have wanted a CPU meanwhile; the usual value if they always
/// did, or there is one rank only.
nanoseconds round_trip(const mpi& m, MPI_Comm on_node, int me) {
  constexpr int trips = 200;
  constexpr std::int64_t usual = 2'000, most = 100'000;
  std::int64_t least = most + 1;
  char none = 0;
  const auto send = [&](int to) { m.Send(&none, 1, m.byte, to, 0, on_node); };
  const auto receive = [&](int from) {
    m.Recv(&none, 1, m.byte, from, 0, on_node, MPI_STATUS_IGNORE);
  };
  for (int i = 0; i < trips && me < 2 && size_of(m, on_node) > 1; ++i) {
    const nanoseconds begin = now();
    if (me == 0) send(1), receive(1);
    else receive(0), send(0);
    least = std::min(least, now() - begin);
  }
  m.Bcast(&least, 1, m.int64, 0, on_node);
  return least <= most ? least : usual;
}

/// Whether messages come through descriptors that MPI asks about: two ranks send each other some,
/// and see. The first with the second, and so on.
bool come_by_descriptors(const mpi& m, MPI_Comm ranks) {
  constexpr int trips = 3;
  const int me = rank_in(m, ranks), other = me ^ 1;
  bool seen = true;
  char none = 0;
  const auto receive = [&] { m.Recv(&none, 1, m.byte, other, 0, ranks, MPI_STATUS_IGNORE); };
  for (int i = 0; i < trips && other < size_of(m, ranks); ++i) {
    if (i == 0 && me > other) receive();
    const std::uint64_t before = progress::asked.events();
    m.Send(&none, 1, m.byte, other, 0, ranks);
    if (i == trips - 1 && me > other) break;
    receive();
    // The first one makes the connection, in whichever way.
    if (i > 0) seen = seen && progress::asked.events() != before;
  }
  return seen;
}

/// Whether messages of other nodes come through such descriptors: the first ranks of two nodes try
/// it. The network of the others will be the same.
bool nodes_come_by_descriptors(const mpi& m, MPI_Comm on_node) {
  this_rank.called_here();
  progress::asked.watch();
  progress::ask_always();
  MPI_Comm firsts = m.no_ranks;
  m.Comm_split(m.world, rank_in(m, on_node) == 0 ? 0 : MPI_UNDEFINED, 0, &firsts);
  if (firsts == m.no_ranks) return true;
  const bool seen = come_by_descriptors(m, firsts);
  m.Comm_free(&firsts);
  return seen;
}

/// On one node MPI may be told to use sockets as well. Then those tell that something came.
void watch_own_node(const mpi& m, MPI_Comm on_node) {
  this_rank.called_here();
  progress::asked.watch();
  const bool seen = size_of(m, on_node) > 1 && come_by_descriptors(m, on_node);
  if (!all(m, seen, on_node)) progress::asked.ignore();
}

/// A watch that interrupts this thread, so only this one may call MPI; null if there can be none.
std::unique_ptr<turn_watch> watch_turns(int thread_level) {
  if (thread_level > MPI_THREAD_FUNNELED) return nullptr;
  auto watch = std::make_unique<turn_watch>([] { this_rank.interrupted(); });
  return watch->works() ? std::move(watch) : nullptr;
}

bool was_spawned(const mpi& m) {
  MPI_Comm parent = m.no_ranks;
  m.Comm_get_parent(&parent);
  return parent != m.no_ranks;
}

void tell(const mpi& m, const char* what) {
  if (rank_in(m, m.world) == 0) std::fprintf(stderr, "cosched: %s\n", what);
}

}  // namespace

void begin_job(int thread_level) noexcept {
  const mpi m;
  const settings s = settings_of_job(m);
  MPI_Comm on_node = m.no_ranks;
  m.Comm_split_type(m.world, MPI_COMM_TYPE_SHARED, 0, m.no_info, &on_node);
  const int me = rank_in(m, on_node);
  const auto ranks = static_cast<unsigned>(size_of(m, on_node));
  const bool one_node = static_cast<int>(ranks) == size_of(m, m.world);
  auto shared = share_node(m, on_node);
  if (shared != nullptr) shared->use_cpus(), measured = share_costs(*shared, me);
  std::unique_ptr<network> others;
  if (!one_node && shared != nullptr)
    others = network::make(shared->name(), static_cast<unsigned>(me),
                           communicators::all_in_world(on_node), progress::asked);
  const nanoseconds usual = s.by == policy::logp ? measured.wake + round_trip(m, on_node, me)
                                                 : 2 * measured.context_switch;
  const bool watched = all(m, progress::watch(), m.world);
  std::unique_ptr<turn_place> place;
  const int cpu = shared != nullptr ? own_cpu(shared->used_cpus(), me) : -1;
  const bool two_phases = s.by != policy::spin && s.by != policy::block;
  if (one_node && shared != nullptr && two_phases && s.turn != 0)
    place = share_turns(m, *shared, on_node);
  if (one_node && watched) watch_own_node(m, on_node);
  const bool reached = one_node || !watched || nodes_come_by_descriptors(m, on_node);
  m.Comm_free(&on_node);
  if (!watched)
    return tell(m, "this MPI's progress loop cannot be watched; its calls wait as without cosched");
  if (!all(m, shared != nullptr, m.world)) {
    progress::asked.ignore();
    return tell(m, "no shared memory for the ranks of a node; calls wait as without cosched");
  }
  // The ranks that had to wait just now know what MPI asks about.
  const bool all_rung = one_node || all(m, others != nullptr, m.world);
  const bool all_reached = all_rung && (one_node || all(m, reached, m.world));
  chosen = s.by, reports = s.report;
  const nanoseconds fixed = s.spin >= 0 ? s.spin : usual;
  const nanoseconds free_spin = !two_phases        ? 0
                                : s.free_spin >= 0 ? s.free_spin
                                                   : free_spin_for(measured.wake);
  if (place != nullptr)
    this_rank.take_turns(std::move(place), s.turn, cpu, watch_turns(thread_level), ranks);
  this_rank.start(
      std::move(shared), std::move(others), static_cast<unsigned>(me),
      {progress::tests, spin_time(s.by, fixed, measured.wake, static_cast<unsigned>(me) + 1),
       free_spin, s.free_spin >= 0 ? allowance::without_limit() : allowance(),
       thread_level == MPI_THREAD_MULTIPLE});
  if (!all_reached) {
    this_rank.stand_aside();
    tell(m, all_rung ? "the job's nodes are not connected by what poll() can wait for; its calls "
                       "wait as without cosched"
                     : "a rank has no socket to be rung by; calls wait as without cosched");
  }
  if (was_spawned(m)) stand_aside("the job was spawned by another");
}

void stand_aside(const char* why) noexcept {
  if (this_rank.now_is() != rank::state::active) return;
  this_rank.stand_aside();
  std::fprintf(stderr, "cosched: %s; its calls wait as without cosched\n", why);
}

void report_job() noexcept {
  if (this_rank.now_is() == rank::state::absent || !reports) return;
  const mpi m;
  report r{chosen, this_rank.spinning().typical(), measured.context_switch, measured.wake, 0, {}};
  static_assert(sizeof(std::int64_t) == sizeof(long long));
  const counts mine = this_rank.counted();
  m.Reduce(&mine, &r.total, counts::fields, m.int64, m.sum, 0, m.world);
  const char* const where = report_file();
  if (rank_in(m, m.world) != 0 || where == nullptr) return;
  r.ranks = size_of(m, m.world);
  if (std::strcmp(where, "-") == 0) return void(std::fputs(as_text(r).c_str(), stderr));
  try {
    machine::saved_file file(where);
    file.write(as_json(r) + "\n");
    file.keep();
  } catch (const std::exception& e) { machine::report_loss("cosched", e); }
}

}  // namespace cleave::cosched
