#include <cleave/runtime.hpp>

#include "core/pool.hpp"
#include "machine/cpus.hpp"
#include "machine/futex.hpp"
#include "machine/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cleave {
namespace detail {

// ---- the functions that constructs call

void answer_in_body(std::uintptr_t at) {
  if (here.self != nullptr) return here.self->answer_in_body(at);
  answer(at);
}

void answer(std::uintptr_t at) {
  if (here.self != nullptr) return here.self->answer(at);
  // On a thread that is no worker only a cancellation can have rung.
  here.word.store(0, std::memory_order_relaxed);
  here.cutoff.store(~std::uintptr_t{0}, std::memory_order_relaxed);
  if (stopped(here.current)) throw cancelled{};
}

std::uint64_t begin_timing(std::uintptr_t at) noexcept {
  return here.self != nullptr ? here.self->begin_timing(at) : 0;
}
void end_timing(std::uint64_t since, std::uintptr_t at) noexcept {
  here.self->end_timing(since, at);
}

bool stopped(const scope* s) noexcept {
  for (; s != nullptr; s = s->parent) {
    if (s->stopped.load(std::memory_order_acquire)) return true;
  }
  return false;
}

void stop(scope& s) noexcept {
  s.stopped.store(true, std::memory_order_seq_cst);
  if (here.self == nullptr) {
    here.word.fetch_or(attention, std::memory_order_relaxed);
    here.cutoff.store(0, std::memory_order_relaxed);
  }
  pool::interrupt_all();
}

scope_frame::scope_frame(scope& s) noexcept : self(&s), previous(here.current) {
  static constexpr frame_type type{frame_role::scope, false, nullptr, nullptr, nullptr, nullptr};
  outer = here.innermost;
  tag = fresh(type);
  here.innermost = this;
  here.current = &s;
}

void join(task& t) noexcept { here.self->join(t); }

void abandon(task* last) noexcept {
  for (task* t = last; t != nullptr; t = t->before) stop(*t);
  while (last != nullptr) {
    task* const t = last;
    last = t->before;
    here.self->await_abandoned(*t);
    delete t;
  }
}

void abandon_frame(work_frame& f) noexcept {
  here.innermost = f.outer;
  if (was_given(f)) abandon(f.part);
}

void spawn(group_task& t) {
  auto& group = static_cast<group_scope&>(*t.parent);
  if (here.self != nullptr) {
    group.pending.fetch_add(1, std::memory_order_relaxed);
    here.self->spawn(t);
    return;
  }
  scope_frame inside(group);
  if (!stopped(&group)) t.execute();
  delete &t;
}

void wait(group_scope& g) noexcept {
  if (here.self != nullptr) return here.self->wait(g);
  for (std::uint32_t n; (n = g.pending.load(std::memory_order_acquire)) != 0;)
    machine::block(g.pending, n);
}

bool is_mine(const group_scope& g) noexcept { return g.owner == here.self; }

// ---- the pool

namespace {

std::mutex pools_mutex;
std::vector<pool*> pools;

}  // namespace

pool::pool(unsigned count, std::size_t stack_bytes, bool check_on, bool cutoff_on,
           std::unique_ptr<trace::session> recorded)
    : recording(std::move(recorded)),
      board(count),
      check(check_on),
      cutoff(cutoff_on),
      oversubscribed(count > static_cast<unsigned>(machine::usable_cpus())),
      patience(oversubscribed
                   ? std::max(50u, 4 * count / static_cast<unsigned>(machine::usable_cpus()))
                   : 0),
      most_askers(4 * static_cast<unsigned>(machine::usable_cpus())),
      workers(count) {
  try {
    for (unsigned i = 0; i < count; ++i) {
      threads.push_back(std::make_unique<machine::thread>(stack_bytes, &begin, this));
    }
  } catch (...) {
    started.store(failed, std::memory_order_release);
    started.notify_all();
    threads.clear();
    throw;
  }
  for (unsigned n; (n = started.load(std::memory_order_acquire)) < count;) started.wait(n);
  std::lock_guard lock(pools_mutex);
  pools.push_back(this);
}

pool::~pool() {
  {
    std::lock_guard lock(pools_mutex);
    std::erase(pools, this);
  }
  stopping.store(true, std::memory_order_release);
  for (auto& w : workers) w->box().ring(news);
  threads.clear();
}

void pool::begin(void* self) {
  auto& p = *static_cast<pool*>(self);
  static std::mutex numbering;
  unsigned id;
  {
    std::lock_guard lock(numbering);
    id = p.started.load(std::memory_order_relaxed);
    if (id == failed) return;
    p.workers[id] =
        std::make_unique<worker>(p, id);  // by the thread itself: the polled word is thread-local
    if (!p.started.compare_exchange_strong(id, id + 1, std::memory_order_acq_rel)) return;
  }
  p.started.notify_all();
  for (unsigned n; (n = p.started.load(std::memory_order_acquire)) < p.size();) p.started.wait(n);
  if (p.started.load(std::memory_order_relaxed) == failed) return;
  p.workers[id]->work();
  // Nobody may ring a word that is gone: all leave together.
  if (p.leaving.fetch_add(1, std::memory_order_acq_rel) + 1 == p.size()) {
    p.leaving.notify_all();
  } else {
    for (unsigned n; (n = p.leaving.load(std::memory_order_acquire)) < p.size();) p.leaving.wait(n);
  }
}

task* pool::take_root() noexcept {
  if (!has_root()) return nullptr;
  std::lock_guard lock(roots_mutex);
  if (roots.empty()) return nullptr;
  task* const t = roots.front();
  roots.pop_front();
  roots_waiting.store(roots.size(), std::memory_order_relaxed);
  return t;
}

void pool::run(task& root) {
  if (recording) recording->begin_run();
  announce(
      board, [this](unsigned i) -> auto& { return at(i).box(); },
      [&] {
        std::lock_guard lock(roots_mutex);
        roots.push_back(&root);
        roots_waiting.store(roots.size(), std::memory_order_seq_cst);
      });
  while (!root.done()) machine::block(root.progress, task::begun);
  if (recording) recording->end_run();
}

void pool::interrupt_all() noexcept {
  std::lock_guard lock(pools_mutex);
  for (pool* p : pools) {
    for (auto& w : p->workers) w->box().insist(attention);
  }
}

}  // namespace detail

namespace {

constexpr long most_workers = detail::bit_board<detail::native>::capacity;

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
  std::size_t stack = o.stack_bytes;
  if (stack == 0)
    stack = static_cast<std::size_t>(machine::environment("CLEAVE_STACK", 1, 1 << 20, 1024)) << 20;
  const bool check = o.check || machine::environment("CLEAVE_CHECK", 0, 1, 0) == 1;
  if (check || o.profile) workers = 1;
  const bool cutoff = o.cutoff && !check && machine::environment("CLEAVE_CUTOFF", 0, 1, 1) == 1;
  return std::make_unique<runtime::state>(static_cast<unsigned>(workers), stack, check, cutoff,
                                          recording_of(o, static_cast<unsigned>(workers)));
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
