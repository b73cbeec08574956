#include <cleave/runtime.hpp>

#include "core/pool.hpp"
#include "machine/cpus.hpp"
#include "machine/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cleave {

class runtime::state : public detail::pool {
public:
  using pool::pool;
};

namespace {

constexpr long most_workers = detail::native::most_workers;

/// Null if nothing is to be recorded.
std::unique_ptr<trace::session> recording_of(const options& o, unsigned workers) {
  trace::session::plan plan{.file = o.trace, .bytes = o.trace_bytes, .strands = o.profile};
  // A program may measure a profile beside its own runtime, which is the one to be traced.
  if (plan.file.empty() && !o.profile) {
    if (const char* file = std::getenv("CLEAVE_TRACE"); file != nullptr) plan.file = file;
  }
  if (plan.bytes == 0)
    plan.bytes = static_cast<std::size_t>(machine::environment("CLEAVE_TRACE_SIZE", 1, 1 << 12, 16))
                 << 20;
  if (plan.file.empty() && !plan.strands && !o.timing) return nullptr;
  return std::make_unique<trace::session>(std::move(plan), workers);
}

std::unique_ptr<runtime::state> start(const options& o) {
  long workers = o.workers;
  if (workers != 0) machine::whole_number("workers", std::to_string(workers), 1, most_workers);
  if (workers == 0) workers = machine::environment("CLEAVE_WORKERS", 1, most_workers, 0);
  if (workers == 0) workers = std::min<long>(machine::usable_cpus(), most_workers);
  detail::pool::plan plan;
  plan.stack_bytes = o.stack_bytes;
  if (plan.stack_bytes == 0) {
    plan.stack_bytes =
        static_cast<std::size_t>(machine::environment("CLEAVE_STACK", 1, 1 << 20, 1024)) << 20;
  }
  plan.check = o.check || machine::environment("CLEAVE_CHECK", 0, 1, 0) == 1;
  if (plan.check || o.profile) workers = 1;
  plan.workers = static_cast<unsigned>(workers);
  plan.cutoff = o.cutoff && !plan.check && machine::environment("CLEAVE_CUTOFF", 0, 1, 1) == 1;
  return std::make_unique<runtime::state>(plan, recording_of(o, plan.workers));
}

[[noreturn]] void refuse(const std::exception& e) {
  std::fprintf(stderr, "cleave: %s\n", e.what());
  std::exit(2);
}

options from_command_line(int& argc, char** argv) try {
  options o;
  o.workers =
      static_cast<int>(machine::take_option(argc, argv, "--workers", 1, most_workers).value_or(0));
  return o;
} catch (const std::invalid_argument& e) { refuse(e); }

}  // namespace

runtime::runtime(const options& o) : state_(start(o)) {}

runtime::runtime(int& argc, char** argv) try : runtime(from_command_line(argc, argv)) {
} catch (const std::exception& e) { refuse(e); }

runtime::~runtime() try {
  if (state_->recording && state_->recording->unwritten()) write_trace();
} catch (const std::exception& e) { std::fprintf(stderr, "cleave: %s\n", e.what()); }

int runtime::workers() const noexcept { return static_cast<int>(state_->size()); }

counters runtime::statistics() const noexcept {
  counters all;
  for (unsigned i = 0; i < state_->size(); ++i) {
    const counters one = state_->at(i).read_counters();
    all.splits += one.splits, all.spawns += one.spawns;
    all.requests += one.requests, all.takebacks += one.takebacks;
    all.undone += one.undone, all.sleeps += one.sleeps, all.searched += one.searched;
    all.deepest = std::max(all.deepest, one.deepest);
  }
  return all;
}

time_spent runtime::spent() const {
  return state_->recording ? state_->recording->spent() : time_spent{};
}
work_span runtime::profile() const {
  return state_->recording ? state_->recording->profile() : work_span{};
}
void runtime::write_trace() {
  if (state_->recording) state_->recording->write();
}

bool runtime::is_worker() const noexcept {
  return detail::here.self != nullptr && &detail::here.self->of == state_.get();
}
bool runtime::checking() const noexcept { return state_->check && !is_worker(); }
void runtime::run_root(detail::task& root) { state_->run(root); }

runtime::check_pause::check_pause(runtime& r) noexcept : of(r) { ++of.state_->check_pauses; }
runtime::check_pause::~check_pause() { --of.state_->check_pauses; }

void runtime::fail_check() {
  throw check_error(
      "CLEAVE_CHECK: the divided run gave another result than the undivided one: is a change of "
      "the workspace not "
      "a step, a put not a copy, or a closure not by value?");
}

}  // namespace cleave
