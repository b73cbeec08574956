#pragma once

#include <cleave/detail/check.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/compare.hpp>
#include <cleave/detail/travel/types.hpp>
#include <cleave/statistics.hpp>
#include <cleave/team.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace cleave {

struct options {
  int workers = 0;  // 0: CLEAVE_WORKERS, else the CPUs this process may really use
  /// The stack of each worker; 0: CLEAVE_STACK (MiB), else 1 GiB (reserved, not used up).
  std::size_t stack_bytes = 0;
  /// Looks for mistakes by dividing where nobody asks: 1 at every poll, N at N polls at most; 0:
  /// CLEAVE_CHECK, else not at all.
  int check = 0;
  std::uint32_t check_seed = 0;  // chooses the N polls; 0: CLEAVE_CHECK_SEED, else any
  bool cutoff = true;  // CLEAVE_CUTOFF=0 clears it: then every `both` can be divided, however short
  bool timing = false;   // keep account of where the time goes, for spent()
  bool profile = false;  // measure work and span, for profile(); then there is one worker
  /// A file for what each worker did when, which opens in ui.perfetto.dev. CLEAVE_TRACE sets it, if
  /// this is no profile. Written by write_trace(), or at the end.
  std::string trace = {};
  /// What joins the processes of a job: "mpi", "none", a plug-in's name; empty: CLEAVE_TRANSPORT,
  /// else mpi in a process that mpirun or srun has started as one of several.
  std::string transport = {};
  /// The size of the trace file, at most; 0: CLEAVE_TRACE_SIZE (MiB), else 16 MiB.
  std::size_t trace_bytes = 0;
};

/// What CLEAVE_CHECK found: the divided run did not give what the undivided one gave; or no two
/// runs give the same, and what() says so.
struct check_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// Whether this process is the one of its job that runs the program: the first of those that mpirun
/// or srun has started, or one that was not started so. Any thread.
bool is_first_node();

/// Serves programs that read their command line before they make a runtime; `runtime(argc, argv)`
/// does this by itself. With `--serve WHERE` on the command line this offers the machine to jobs of
/// this program at several sites (docs/sites.md), and does not return: it exits with status 0 when
/// it has been told to leave, by SIGINT or SIGTERM. Otherwise it does nothing. Called by the main
/// thread, before there are others. Throws std::invalid_argument if what was given cannot be used,
/// std::runtime_error.
void serve_if_asked(int argc, char** argv);

/// The workers of a process. Construction starts them; they sleep while there is nothing to do, or
/// for some microseconds look for it, where a program calls run() again and again.
/// Outside run(), every construct simply runs its sequential program.
///
/// In a job of several processes, the first one goes on. In the others construction does not
/// return: they work for the first one until its runtime ends, and then exit with status 0. One
/// runtime joins the job, the first that a process makes; others run in their process alone.
class runtime {
public:
  /// Takes its options from CLEAVE_WORKERS, CLEAVE_STACK, CLEAVE_CHECK, CLEAVE_CHECK_SEED,
  /// CLEAVE_CUTOFF and CLEAVE_TRACE. Throws std::invalid_argument if one is malformed.
  runtime() : runtime(options{}) {}
  /// Also takes --workers, --transport, --check, --check-seed, --trace and --trace-size (MiB) out
  /// of the command line, as `--workers N` or `--workers=N`, up to a word `--`. What it does not
  /// know it leaves there. If one of them or an environment variable is malformed, prints one line
  /// (of an MPI job its first rank does) and exits with status 2. With `--serve WHERE` it does not
  /// return: see serve_if_asked().
  runtime(int& argc, char** argv);
  explicit runtime(const options& o);
  /// Waits for nothing: run() has returned by then. Writes the trace, if write_trace() was not
  /// called. If that fails, prints one line, and the process ends with status 1 where it would have
  /// ended with 0. The exception is the end of the process, for a runtime of static storage: when a
  /// task calls std::exit, or main returns during run() on another thread, the workers are left as
  /// they are, no trace is written, and the process exits as usual.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  int workers() const noexcept;
  /// What all nodes of the job have done. Asks them, so it blocks for some microseconds, for a
  /// second if one is silent.
  job_statistics job() const;
  counters statistics() const noexcept;
  /// Where the time has gone since the runtime began. Called while nothing runs. All zeros without
  /// options::timing and options::trace.
  time_spent spent() const;
  /// Work and span of all runs so far, one after the other. Called while nothing runs. All zeros
  /// without options::profile.
  work_span profile() const;
  /// Writes the file of options::trace, of all nodes, or nothing if there is none; while nothing
  /// runs. A file that is there is replaced whole, and keeps its owner and mode; where a symbolic
  /// link leads to it, the link stays. A device or a pipe is written to. Throws std::runtime_error
  /// if it cannot be written; then a file is what it was before.
  void write_trace();

  /// Runs f(), while the workers help; returns what f returned, or throws what it threw. Any
  /// thread; several may call at once. The calling thread is a worker meanwhile, in the place of
  /// one of the others, with a worker's stack. A worker that is another thread runs f, and the
  /// caller blocks, where another thread has this place; in a task of another runtime; with
  /// options::timing, trace, profile or check; and on processors other than x86-64 and AArch64.
  /// Called by a worker of this runtime it simply calls f(). A run in which nothing is divided
  /// takes under 0.2 µs.
  ///
  /// What f() starts computes in the calling thread's floating-point environment (rounding, flush
  /// to zero, traps), on whichever worker of this process. Throws std::logic_error if all workers
  /// wait for the task of another runtime that calls this; not for tasks of several that call each
  /// other crosswise.
  ///
  /// Under CLEAVE_CHECK f runs twice on the same data, divided where nobody asks and then
  /// undivided. If its results can be compared and differ, and no scope was cancelled meanwhile, f
  /// runs undivided once more, to tell a mistake from a function that cannot be repeated, and
  /// check_error is thrown.
  template <class F>
  auto run(F f) {
    using result = std::remove_cvref_t<std::invoke_result_t<F&>>;
    if constexpr (std::is_void_v<result>) {
      run_once(f);
      if (checking()) run_undivided(f);
    } else {
      const std::uint64_t allowed = detail::allowed_differences();
      result divided = run_once(f);
      if (checking()) compare(divided, allowed, [&] { return run_undivided(f); });
      return divided;
    }
  }

  /// Has all nodes of the job run the same task at once, each its own copy with the same input:
  /// what MPI programs call SPMD. They share data by a team_graph. Returns what run() returned
  /// here; throws what it threw, or what it threw on another node, where it is then cancelled.
  /// Blocks the calling thread, which must be no worker (std::logic_error). Several calls run one
  /// after the other.
  ///
  /// If a node is lost, the others begin the task again without it. With one process, and where
  /// nodes come and go (docs/sites.md), this one is the only member.
  template <team_task Work>
  auto run_on_all(Work work) {
    using result = std::remove_cvref_t<decltype(std::declval<Work&>().run(std::declval<team&>()))>;
    if constexpr (std::is_void_v<result>) {
      run_team(work);
      if (checking()) run_team_undivided(work);
    } else {
      const std::uint64_t allowed = detail::allowed_differences();
      result divided = run_team(work);
      if (checking()) compare(divided, allowed, [&] { return run_team_undivided(work); });
      return divided;
    }
  }

  class state;

private:
  template <class F>
  auto run_once(F& f) {
    if (is_worker()) return f();
    auto call = [&f] { return f(); };
    using closure = detail::closure_task<decltype(call)>;
    detail::task_of<closure> root([&call] { return closure{call}; });
    root.put_below(detail::here.current);
    if (root.parent != nullptr) root.parent->share();
    run_root(root);
    if (root.error) std::rethrow_exception(root.error);
    if constexpr (!std::is_void_v<std::invoke_result_t<F&>>) return std::move(*root.result);
  }
  template <class F>
  auto run_undivided(F& f) {
    check_pause undivided(*this);
    return run_once(f);
  }
  template <class Work>
  auto run_team(const Work& work) {
    return detail::run_by_team(work, [this](detail::task& root, detail::task& input) {
      return run_team(root, input, detail::wire_of<detail::team_part<Work>>());
    });
  }
  template <class Work>
  auto run_team_undivided(const Work& work) {
    check_pause undivided(*this);
    return run_team(work);
  }
  template <class R, class Run>
  void compare(const R& divided, std::uint64_t allowed_before, Run run_undivided) {
    const R undivided = run_undivided();
    if constexpr (detail::is_compared<R>()) {
      if (detail::same(divided, undivided) || may_differ(allowed_before)) return;
      fail_check(detail::same(undivided, run_undivided()));
    }
  }

  struct check_pause {  // runs are undivided while this lives
    explicit check_pause(runtime& r) noexcept;
    ~check_pause();
    runtime& of;
  };

  /// Whether something has said since then that results may differ.
  bool may_differ(std::uint64_t allowed_before) const noexcept;
  [[noreturn]] void fail_check(bool repeatable) const;
  bool is_worker() const noexcept;
  bool checking() const noexcept;
  void run_root(detail::task& root);
  /// False if a node was lost meanwhile. Throws what the task threw.
  bool run_team(detail::task& root, detail::task& input, const detail::wire_type* type);

  state* const state_;  // calls of run() use it even after the destructor, where exit() was called
};

}  // namespace cleave
