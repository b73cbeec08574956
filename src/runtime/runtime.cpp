#include <cleave/detail/travel/types.hpp>
#include <cleave/runtime.hpp>

#include "core/pool.hpp"
#include "machine/cpus.hpp"
#include "machine/saved_file.hpp"
#include "machine/settings.hpp"
#include "machine/standard_streams.hpp"
#include "machine/termination.hpp"
#include "machine/thread.hpp"
#include "node/driver.hpp"
#include "node/other_nodes.hpp"
#include "runtime/check_setting.hpp"
#include "runtime/nested_run.hpp"
#include "transport/launch.hpp"
#include "transport/plugin.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cleave {

namespace {

constexpr long most_workers = detail::native::most_workers;
constexpr long most_trace = 1 << 12;  // MiB
constexpr std::chrono::seconds time_to_leave{10};

std::size_t trace_bytes(long mebibytes) { return static_cast<std::size_t>(mebibytes) << 20; }

/// Null if nothing is to be recorded. The first one of several nodes writes the file.
std::unique_ptr<trace::session> recording_of(const options& o, unsigned workers, unsigned nodes) {
  trace::session::settings what{.file = o.trace, .bytes = o.trace_bytes, .strands = o.profile};
  // A program may measure a profile beside its own runtime, which is the one to be traced.
  if (what.file.empty() && !o.profile) {
    if (const char* file = std::getenv("CLEAVE_TRACE"); file != nullptr) what.file = file;
  }
  if (!net::is_first_rank()) {
    what.spans = !what.file.empty();
    what.file.clear();
  } else if (const int rank = net::launched().rank; rank != 0 && !what.file.empty()) {
    what.file.append(".").append(std::to_string(rank));  // ranks that are programs of their own
  }
  if (what.bytes == 0)
    what.bytes = trace_bytes(machine::environment("CLEAVE_TRACE_SIZE", 1, most_trace, 16));
  what.bytes /= nodes;
  if (what.file.empty() && !what.spans && !what.strands && !o.timing) return nullptr;
  return std::make_unique<trace::session>(std::move(what), workers);
}

}  // namespace

/// The pool ends before the node that it belongs to, which until then answers its bell.
class runtime::state {
public:
  state(detail::pool::settings how, const options& o, std::unique_ptr<net::driver> joined)
      : node(std::move(joined)) {
    if (node != nullptr) how.others = net::other_nodes::maker(node->bell());
    const unsigned nodes = node != nullptr ? node->nodes() : 1;
    pool = std::make_unique<detail::pool>(how, recording_of(o, how.workers, nodes));
    if (node == nullptr) return;
    node->attach(
        net::other_nodes::of(*pool), [this](bool with_trace) { return report(with_trace); },
        pool->recording != nullptr);
  }
  ~state() {
    if (node != nullptr) node->stop();
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  counters counted() const noexcept {
    counters all;
    for (unsigned i = 0; i < pool->places(); ++i) {
      const counters one = pool->at(i).read_counters();
      all.splits += one.splits, all.spawns += one.spawns;
      all.requests += one.requests, all.takebacks += one.takebacks;
      all.undone += one.undone, all.sleeps += one.sleeps, all.searched += one.searched;
      all.deepest = std::max(all.deepest, one.deepest);
    }
    return all;
  }
  net::node_report report(bool with_trace) const {
    const counters all = counted();
    net::node_report r;
    r.workers = pool->size(), r.splits = all.splits, r.requests = all.requests;
    r.cpu_seconds = 1e-9 * static_cast<double>(machine::process_cpu_time());
    if (node != nullptr) r.stayed = net::other_nodes::of(*pool).stayed();
    if (with_trace && pool->recording != nullptr) r.trace = pool->recording->recorded();
    return r;
  }

  const std::unique_ptr<net::driver> node;  // null: this process is alone
  std::unique_ptr<detail::pool> pool;
  std::mutex one_team;  // held during run_on_all(): one at a time
};

namespace {

/// The CPUs for this process: a share of its host's, if the launcher has not bound each rank to its
/// own.
unsigned cpus_of_this_process() {
  const auto usable = static_cast<unsigned>(machine::usable_cpus());
  const auto ranks = static_cast<unsigned>(std::max(1, net::launched().host_ranks));
  const bool bound = usable < std::thread::hardware_concurrency();
  return bound ? usable : std::max(1u, usable / ranks);
}

/// The exit status: 2 where the user has set something that cannot be used.
int status_for(const std::exception& e) {
  return dynamic_cast<const std::invalid_argument*>(&e) != nullptr ? 2 : 1;
}

/// Null if this process is alone. One runtime joins, and the other ranks go when it ends, or at
/// once where it is to be `alone`: those made later find nobody.
std::unique_ptr<net::driver> join_job(net::transport_choice choice, bool alone,
                                      const net::preference& asks) {
  static std::atomic<bool> joined{false};
  if (!choice.name.empty()) net::check_transport("--transport", choice.name);
  char* no_arguments[] = {nullptr};
  int none = 1;
  if (choice.name.empty()) choice.name = net::take_transport(none, no_arguments);
  if (choice.name == "none") net::separate();
  if (joined.exchange(true) || alone) return nullptr;
  std::unique_ptr<net::driver> node;
  try {
    node = net::driver::open(choice, asks);
  } catch (const std::exception& e) {
    // There is nothing that such a process could do alone.
    if (!net::is_first_rank()) net::end_all_ranks(e.what(), status_for(e));
    throw;
  }
  if (node == nullptr) joined = false;
  return node;
}

/// Works for a job of another process until it is over. A node that may leave it does so when it is
/// asked to.
void work_for_another(net::driver& node) {
  std::unique_ptr<machine::on_termination> asked;
  if (net::launched().comes_and_goes)
    asked = std::make_unique<machine::on_termination>([&node] { node.leave(time_to_leave); });
  node.wait_until_over();
}

std::unique_ptr<runtime::state> start(const options& o) {
  machine::open_standard_streams();
  long workers = o.workers;
  if (workers != 0) machine::whole_number("workers", std::to_string(workers), 1, most_workers);
  if (workers == 0) workers = machine::environment("CLEAVE_WORKERS", 1, most_workers, 0);
  detail::pool::settings how;
  how.cpus = cpus_of_this_process();
  if (workers == 0) workers = std::min<long>(how.cpus, most_workers);
  // What the machine's owner allows (--serve --workers N) is not the job's to choose.
  const long allowed = machine::environment("CLEAVE_MOST_WORKERS", 1, most_workers, most_workers);
  const long asked = workers > allowed ? std::exchange(workers, allowed) : 0;
  how.stack_bytes = o.stack_bytes;
  if (how.stack_bytes == 0) {
    how.stack_bytes =
        static_cast<std::size_t>(machine::environment("CLEAVE_STACK", 1, 1 << 20, 1024)) << 20;
  }
  how.check = checking_of(o);
  if (how.check || o.profile) workers = 1;
  how.workers = static_cast<unsigned>(workers);
  how.cutoff = o.cutoff && !how.check && machine::environment("CLEAVE_CUTOFF", 0, 1, 1) == 1;
  const bool alone = how.check.has_value() || o.profile;
  detail::check_broadcast_setting();
  auto node = join_job({o.transport, static_cast<int>(workers), static_cast<int>(asked)}, alone,
                       net::preference_of_environment().value_or(net::preference{}));
  const bool works_for_another = !net::is_first_rank() && (node != nullptr || alone);
  how.guests = !works_for_another;
  auto made = std::make_unique<runtime::state>(how, o, std::move(node));
  if (!works_for_another) return made;
  if (made->node != nullptr) work_for_another(*made->node);
  made.reset();
  std::exit(0);
}

unsigned workers_to_begin_with() {
  const auto usual = static_cast<long>(cpus_of_this_process());
  return static_cast<unsigned>(
      machine::environment("CLEAVE_WORKERS", 1, most_workers, std::min(usual, most_workers)));
}

[[noreturn]] void refuse(const std::exception& e) { net::end_all_ranks(e.what(), status_for(e)); }

options from_command_line(int& argc, char** argv) try {
  serve_if_asked(argc, argv);
  options o;
  o.transport = net::take_transport(argc, argv);
  o.workers =
      static_cast<int>(machine::take_option(argc, argv, "--workers", 1, most_workers).value_or(0));
  o.check = static_cast<int>(
      machine::take_option(argc, argv, "--check", 1, most_checked_divisions).value_or(0));
  o.check_seed = static_cast<std::uint32_t>(
      machine::take_option(argc, argv, "--check-seed", 1, most_check_seed).value_or(0));
  o.trace = machine::take_text(argc, argv, "--trace", "a file").value_or("");
  o.trace_bytes =
      trace_bytes(machine::take_option(argc, argv, "--trace-size", 1, most_trace).value_or(0));
  return o;
} catch (const std::exception& e) { refuse(e); }

}  // namespace

void serve_if_asked(int argc, char** argv) {
  machine::open_standard_streams();
  net::serve_settings what;
  const auto where = net::take_serve(argc, argv);
  if (!where) return;
  what.where = *where;
  what.workers = static_cast<unsigned>(
      machine::take_option(argc, argv, "--workers", 1, most_workers)
          .value_or(machine::environment("CLEAVE_WORKERS", 1, most_workers, 0)));
  net::preference_of_environment();  // the processes of jobs have it too
  if (argc > 1)
    throw std::invalid_argument(
        std::string("--serve: expected nothing besides --workers N, got \"") + argv[1] + "\"");
  what.usual_workers = workers_to_begin_with();
  what.program = program_invocation_short_name;
  what.hash = detail::program_hash();
  net::serve(what);
  std::exit(0);
}

runtime::runtime(const options& o) : state_(start(o).release()) {}

runtime::runtime(int& argc, char** argv) try : runtime(from_command_line(argc, argv)) {
} catch (const std::exception& e) { refuse(e); }

runtime::~runtime() {
  const bool to_write = state_->pool->recording && state_->pool->recording->unwritten();
  // A task has called exit(), or main has returned during a run on another thread. Workers that
  // compute cannot be stopped: they go on, with all that they use, until the process has ended.
  if (state_->pool->in_use()) {
    if (to_write)
      std::fprintf(stderr, "cleave: no trace is written: the program exits during a run\n");
    return;
  }
  try {
    if (to_write) write_trace();
  } catch (const std::exception& e) { machine::report_loss("cleave", e); }
  delete state_;
}

int runtime::workers() const noexcept { return static_cast<int>(state_->pool->size()); }

counters runtime::statistics() const noexcept { return state_->counted(); }

job_statistics runtime::job() const {
  job_statistics all;
  auto add = [&](const net::node_report& r) {
    all.workers += static_cast<unsigned>(r.workers);
    all.splits += r.splits, all.requests += r.requests, all.cpu_seconds += r.cpu_seconds;
    all.tasks_crossed += r.tasks_in;
    all.messages += r.carried.sent, all.bytes += r.carried.sent_bytes;
    for (const stayed_task& one : r.stayed) {
      const auto known = std::find_if(all.stayed.begin(), all.stayed.end(), [&](const auto& t) {
        return t.task == one.task && t.why == one.why;
      });
      if (known == all.stayed.end()) all.stayed.push_back(one);
      else known->times += one.times;
    }
  };
  net::node_report own = state_->report(false);
  if (state_->node != nullptr) {
    const auto others = state_->node->inquire(false, net::inquiries::answer_within);
    for (const auto& other : others) add(other.what);
    const net::node_counters c = state_->node->counted();
    own.tasks_in = c.tasks_in, own.carried = c.carried;
    all.asks = net::to_string(state_->node->asks());
    const auto answers = static_cast<unsigned>(others.size());
    all.nodes = std::max(c.nodes, answers + 1);  // one may have come or gone since
    all.silent = all.nodes - 1 - answers;
  }
  add(own);
  return all;
}
bool is_first_node() { return net::is_first_rank(); }

time_spent runtime::spent() const {
  return state_->pool->recording ? state_->pool->recording->spent() : time_spent{};
}
work_span runtime::profile() const {
  return state_->pool->recording ? state_->pool->recording->profile() : work_span{};
}
void runtime::write_trace() {
  if (!state_->pool->recording || !state_->pool->recording->has_file()) return;
  state_->pool->recording->write(state_->node != nullptr ? state_->node->traces()
                                                         : std::vector<trace::node_trace>{});
}

bool runtime::is_worker() const noexcept {
  return detail::here.self != nullptr && &detail::here.self->of == state_->pool.get();
}
bool runtime::checking() const noexcept { return state_->pool->check != nullptr && !is_worker(); }
void runtime::run_root(detail::task& root) {
  if (detail::here.self == nullptr) return state_->pool->run(root);
  const nested_run nested(*state_->pool, root);
  state_->pool->run(root);
}

bool runtime::run_team(detail::task& root, detail::task& input, const detail::wire_type* type) {
  if (detail::here.self != nullptr)
    throw std::logic_error("cleave::runtime::run_on_all: called by a worker");
  const std::lock_guard one(state_->one_team);
  net::driver* const node = net::launched().comes_and_goes ? nullptr : state_->node.get();
  if (node == nullptr || type == nullptr) {
    detail::team_node alone(1, 0, 1, nullptr);
    state_->pool->team = &alone;
    run_root(root);
    if (root.error) std::rethrow_exception(root.error);
    return true;
  }
  return node->run_team(*type, input, root, [&] { run_root(root); });
}

runtime::check_pause::check_pause(runtime& r) noexcept : of(r) { ++of.state_->pool->check->pauses; }
runtime::check_pause::~check_pause() { --of.state_->pool->check->pauses; }

bool runtime::may_differ(std::uint64_t allowed_before) const noexcept {
  if (detail::allowed_differences() == allowed_before) return false;
  std::fprintf(stderr,
               "cleave: CLEAVE_CHECK: the results differ; that is no alarm, as a scope was "
               "cancelled\n");
  return true;
}
void runtime::fail_check(bool repeatable) const {
  throw check_error(found_by(*state_->pool->check, repeatable));
}

}  // namespace cleave
