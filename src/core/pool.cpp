#include "core/pool.hpp"

#include "machine/floating_point.hpp"
#include "machine/futex.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <mutex>

namespace cleave::detail {
namespace {

std::mutex pools_mutex;

/// The list is made by the first pool, and never destroyed: a pool may be static, and exit() called
/// by a task.
std::vector<pool*>& pools() {
  static auto* const all = new std::vector<pool*>;
  return *all;
}

/// Workers that share CPUs may be off them for some time slices.
pool::sharing share(unsigned workers, unsigned cpus) {
  const bool oversubscribed = workers > cpus;
  const unsigned off_cpu = oversubscribed ? std::max(50u, 4 * workers / cpus) : 0;
  return {oversubscribed, std::chrono::milliseconds(off_cpu), 4 * cpus};
}

/// Not where each worker is recorded, or checks, and not for the last number that there is.
bool takes_guests(const pool::settings& s, const trace::session* recorded) {
  return machine::stack::can_change && recorded == nullptr && !s.check && s.guests &&
         s.workers < native::most_workers;
}

}  // namespace

pool::pool(const settings& s, std::unique_ptr<trace::session> recorded)
    : recording(std::move(recorded)),
      meeting(s.workers + (takes_guests(s, recording.get()) ? 1 : 0)),
      check(s.check ? std::make_unique<checks>(*s.check) : nullptr),
      cutoff(s.cutoff),
      cpus(share(s.workers, s.cpus)),
      size_(s.workers),
      workers(meeting.computing.size()) {
  if (s.others) others_ = s.others(*this);
  if (places() > size()) {
    workers.back() = std::make_unique<worker>(*this, size());
    guests = std::make_unique<guest>(*this, s.stack_bytes);
  }
  try {
    for (unsigned i = 0; i < s.workers; ++i) {
      threads_.all.push_back(std::make_unique<machine::thread>(s.stack_bytes, &begin, this));
    }
  } catch (...) {
    threads_.started.store(failed, std::memory_order_release);
    threads_.started.notify_all();
    threads_.all.clear();
    throw;
  }
  for (unsigned n; (n = threads_.started.load(std::memory_order_acquire)) < size();)
    threads_.started.wait(n);
  std::lock_guard lock(pools_mutex);
  pools().push_back(this);
}

pool::~pool() {
  stopping.store(true, std::memory_order_release);
  for (auto& w : workers) w->box().ring(news);
  threads_.all.clear();
}

void pool::begin(void* self) {
  auto& p = *static_cast<pool*>(self);
  static std::mutex numbering;
  unsigned id;
  {
    std::lock_guard lock(numbering);
    id = p.threads_.started.load(std::memory_order_relaxed);
    if (id == failed) return;
    p.workers[id] =
        std::make_unique<worker>(p, id);  // on its own thread: the polled word is thread-local
    if (!p.threads_.started.compare_exchange_strong(id, id + 1, std::memory_order_acq_rel)) return;
  }
  p.threads_.started.notify_all();
  for (unsigned n; (n = p.threads_.started.load(std::memory_order_acquire)) < p.size();)
    p.threads_.started.wait(n);
  if (p.threads_.started.load(std::memory_order_relaxed) == failed) return;
  p.workers[id]->work();
  // Nobody may ring a word that is gone: all leave together, once no cancellation rings any more.
  const unsigned all = p.size() + 1;
  if (p.threads_.leaving.fetch_add(1, std::memory_order_acq_rel) + 1 == p.size()) {
    {
      std::lock_guard lock(pools_mutex);
      std::erase(pools(), &p);
    }
    p.threads_.leaving.store(all, std::memory_order_release);
    p.threads_.leaving.notify_all();
  } else {
    for (unsigned n; (n = p.threads_.leaving.load(std::memory_order_acquire)) < all;)
      p.threads_.leaving.wait(n);
  }
}

void pool::begin_root(task& root) noexcept {
  announce(meeting, [&] { roots.push(root); });
  if (guests) guests->wake_reserve();
}

void pool::make_ready(task& t) noexcept {
  if (recording) t.ticks = ticks();
  announce(meeting, [&] { ready_for_any.push(t); });
  if (guests) guests->wake_reserve();
}

void pool::run(task& root) {
  root.floating = machine::floating_environment();
  if (guests && here.self == nullptr && guests->run(root)) {
    told_stopped(here.current);
    return;
  }
  if (recording) recording->begin_run();
  runs.fetch_add(1, std::memory_order_seq_cst);
  begin_root(root);
  while (!root.done()) machine::block(root.completed.word(), root.completed.open);
  told_stopped(here.current);  // then the root's result is an exception that tells of it
  if (recording) recording->end_run();
  runs.fetch_sub(1, std::memory_order_release);  // acquired by in_use(): then the pool may end
}

bool pool::has_work_for_any() const noexcept {
  return !roots.empty() || !ready_for_any.empty() ||
         std::any_of(workers.begin(), workers.end(), [](auto& w) { return !w->ready.empty(); });
}

bool pool::in_use() const noexcept {
  return (here.self != nullptr && &here.self->of == this) ||
         runs.load(std::memory_order_acquire) != 0 || (guests && guests->is_here());
}

void pool::interrupt_all() noexcept {
  std::lock_guard lock(pools_mutex);
  for (pool* p : pools()) {
    for (auto& w : p->workers) w->box().insist(attention);
    if (p->others() != nullptr) p->others()->interrupt();
  }
}

}  // namespace cleave::detail
