#include "core/pool.hpp"
#include "machine/futex.hpp"

#include <cleave/detail/check.hpp>

#include <cassert>
#include <exception>

/// The functions that constructs call.
namespace cleave::detail {
namespace {

static_assert(alignof(local) <= 64, "dlopen refuses libraries with such thread-locals");

interruption<native> interruption_of(local& thread) noexcept {
  return {thread.word, thread.cutoff};
}

}  // namespace

void answer(std::uintptr_t construct) {
  if (here.self != nullptr) return here.self->answer(construct);
  if (unwinds_in_stopped()) return;
  interruption_of(here).take();  // only a cancellation can have rung
  throw_if_stopped();
}

void throw_if_stopped() {
  if (told_stopped(here.current)) throw cancelled{};
}
bool unwinds_in_stopped() noexcept {
  return std::uncaught_exceptions() != 0 && stopped(here.current);
}

bool is_checked() noexcept { return here.self != nullptr && here.self->of.check != nullptr; }

std::uint64_t begin_timing(std::uintptr_t construct) noexcept {
  return here.self != nullptr ? here.self->begin_timing(construct) : 0;
}
void end_timing(std::uint64_t since, std::uintptr_t construct) noexcept {
  here.self->end_timing(since, construct);
}

namespace {

/// How many scopes are marked. While there are none, which is nearly always, nobody need walk up.
std::atomic<std::uint32_t> marked{0};

std::atomic<std::uint64_t> differences{0};

void mark_stopped(scope& s) noexcept {
  marked.fetch_add(1, std::memory_order_seq_cst);  // before the mark, which is looked for only then
  if (s.stopped.exchange(true, std::memory_order_seq_cst))
    marked.fetch_sub(1, std::memory_order_relaxed);
  if (here.self == nullptr) interruption_of(here).remind();
  pool::interrupt_all();
}

}  // namespace

void allow_difference() noexcept { differences.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t allowed_differences() noexcept { return differences.load(std::memory_order_relaxed); }

// Partner of stop(). seq_cst: a guest takes its word over and then looks here.
bool stopped(const scope* s) noexcept {
  if (marked.load(std::memory_order_seq_cst) == 0 && here.own_marks == nullptr) return false;
  for (; s != nullptr; s = s->parent) {
    if (s->stopped.load(std::memory_order_acquire)) return true;
  }
  return false;
}

bool told_stopped(const scope* s) noexcept {
  if (!stopped(s)) return false;
  if (stopped(here.current)) interruption_of(here).remind();
  return true;
}

void stop(scope& s) noexcept {
  allow_difference();  // before the mark: whoever has seen a scope stopped knows of this
  mark_stopped(s);
}

void cancel_own(scope& s, own_mark& mark) noexcept {
  assert(!s.shared.load(std::memory_order_relaxed));
  if (s.stopped.load(std::memory_order_relaxed)) return;
  if (is_checked()) allow_difference();
  s.stopped.store(true, std::memory_order_relaxed);
  mark = {here.own_marks, true};
  const std::uintptr_t cutoff = interruption_of(here).begin_own_cancel();
  if (mark.before == nullptr) here.cutoff_before = cutoff;
  here.own_marks = &mark;
}

void forget_own(scope& s, own_mark& mark) noexcept {
  if (!mark.stands) return;
  mark.stands = false;
  own_mark** at = &here.own_marks;
  while (*at != &mark) at = &(*at)->before;
  *at = mark.before;
  s.stopped.store(false, std::memory_order_relaxed);
  if (here.own_marks == nullptr) interruption_of(here).end_own_cancel(here.cutoff_before);
}

void scope::share_up() noexcept {
  for (scope* s = this; s != nullptr && !s->shared.load(std::memory_order_relaxed); s = s->parent)
    s->shared.store(true, std::memory_order_relaxed);
  for (; here.own_marks != nullptr; here.own_marks = here.own_marks->before) {
    here.own_marks->stands = false;
    marked.fetch_add(1, std::memory_order_seq_cst);
  }
}

void scope::forget_mark() noexcept { marked.fetch_sub(1, std::memory_order_relaxed); }

void interrupt(local& thread) noexcept { interruption_of(thread).ring(); }

scope_frame::scope_frame(scope& s) noexcept : self(&s), previous(here.current) {
  static constexpr frame_type type{frame_role::scope, nullptr, nullptr, nullptr, nullptr, nullptr};
  outer = here.innermost;
  tag = fresh(type);
  here.innermost = this;
  here.current = &s;
}

void join(task& t) noexcept { here.self->join(t); }

void abandon(task* last) noexcept {
  // What arrives is the exception of the sequential program: nothing may differ because of it.
  for (task* t = last; t != nullptr; t = t->before) mark_stopped(*t);
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

namespace {
task_slab* own_slab() noexcept { return here.self != nullptr ? &here.self->slab : nullptr; }
}  // namespace

void* allocate_task(std::size_t bytes) { return task_slab::allocate(own_slab(), bytes); }
void free_task(void* memory) noexcept { task_slab::release(own_slab(), memory); }

void spawn(group_task& t) {
  auto& group = static_cast<group_scope&>(*t.parent);
  if (here.self != nullptr) return here.self->spawn(t);
  {
    scope_frame inside(group);
    if (!stopped(&group)) t.execute();
    t.dispose();
  }
  told_stopped(here.current);  // a poll in t may have taken the attention that was meant for this
}

void make_ready(group_task& t) noexcept {
  worker& owner = *static_cast<group_scope&>(*t.parent).owner;
  if (&owner == here.self && owner.keep_ready(t)) return;
  owner.of.make_ready(t);
}

team_node* team_of_this_node() noexcept {
  return here.self != nullptr ? here.self->of.team : nullptr;
}

std::uint64_t path_position() noexcept {
  return here.self != nullptr ? here.self->path_position() : 0;
}

void wait(group_scope& g) noexcept {
  if (here.self != nullptr) return here.self->wait(g);
  for (std::uint32_t n; (n = g.pending.word().load(std::memory_order_acquire)) != 0;)
    machine::block(g.pending.word(), n);
}

void wait(group_scope& g, const std::function<bool()>& enough) { here.self->wait(g, enough); }

void help(group_scope& g, std::int64_t if_more) noexcept {
  if (here.self != nullptr && here.self->ready.size() > if_more) here.self->help(g);
}

bool help(group_scope& g) noexcept { return here.self != nullptr && here.self->help(g); }

unsigned workers_of(const group_scope& g) noexcept {
  return g.owner != nullptr ? g.owner->of.size() : 1;
}

bool is_mine(const group_scope& g) noexcept {
  return g.thread == &here && (here.current == nullptr || !is_within(here.current, &g, g.depth));
}

void cancel(group_scope& g) noexcept {
  stop(g);
  if (g.owner == nullptr) interrupt(*g.thread);
}

}  // namespace cleave::detail
