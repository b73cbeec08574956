#include "core/worker.hpp"

#include "core/pool.hpp"
#include "machine/futex.hpp"
#include "machine/thread.hpp"

#include <cleave/detail/cutoff.hpp>
#include <cleave/detail/pace.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace cleave::detail {
namespace {

/// How long a waiter spins before it blocks: about what blocking and being woken costs.
constexpr std::chrono::nanoseconds spin_time = std::chrono::microseconds(20);

/// True until `spin_time` has passed since the first call; at once false where others want the CPU.
class spinner {
public:
  explicit spinner(bool oversubscribed) noexcept : over_(oversubscribed) {}

  bool operator()() noexcept {
    if (over_) return false;
    for (int i = 0; i < 4; ++i) machine::pause();
    const auto now = std::chrono::steady_clock::now();
    if (end_ == std::chrono::steady_clock::time_point{}) end_ = now + spin_time;
    return now < end_;
  }

private:
  bool over_;
  std::chrono::steady_clock::time_point end_{};
};

/// Longer than a thread that shares its CPU is off it.
constexpr int nap_milliseconds = 50;

/// The worker that made a task, or the one whose group it was spawned into; 0 for a root.
unsigned maker_of(const task& t) noexcept {
  const worker* const w = t.detached ? static_cast<group_scope*>(t.parent)->owner : t.owner;
  return w != nullptr ? w->id : 0;
}

request address(task& t) noexcept { return reinterpret_cast<request>(&t); }

}  // namespace

void native::block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                   bool nap) noexcept {
  machine::block(word, expected, nap ? nap_milliseconds : machine::forever);
}
void native::wake(const std::atomic<std::uint32_t>& word) noexcept { machine::wake(word); }

worker::worker(pool& p, unsigned number) noexcept
    : of(p),
      id(number),
      box_(here.word, here.cutoff),
      recorder_(p.recording ? p.recording->of(number) : nullptr),
      strands_(p.recording ? p.recording->strands() : nullptr),
      random_(number * 2654435761u + 1) {}

void worker::set(count c, std::uint64_t n) noexcept {
  counted_[c].store(n, std::memory_order_relaxed);
}
void worker::add(count c) noexcept {
  set(c, counted_[c].load(std::memory_order_relaxed) + 1);
}  // one writer

counters worker::read_counters() const noexcept {
  auto get = [&](count c) { return counted_[c].load(std::memory_order_relaxed); };
  return {get(splits), get(spawns), get(requests), get(takebacks),
          get(undone), get(sleeps), get(searched), get(deepest)};
}

// ---- victim

void worker::answer(std::uintptr_t at) {
  if (at < stretch_.undivided_below && stretch_.cutoff_was_set && over_soon()) {
    if ((here.word.load(std::memory_order_relaxed) & attention) != 0 && stopped(here.current))
      throw cancelled{};
    return;
  }
  trace::between_strands pause(strands_);
  if (strands_ != nullptr) strands_->next_branch(at);
  struct leave_at_exit {
    worker& w;
    ~leave_at_exit() { w.leave_slow_path(); }
  } leave{*this};
  enter_slow_path(at);
  const std::uint32_t signals = box_.take_signals();
  if ((signals & checking) != 0) split_everywhere();
  if ((signals & (asked | parked)) != 0) serve_askers();
  if ((signals & attention) != 0 || interrupted_) {
    interrupted_ = false;
    if (stopped(here.current)) throw cancelled{};
  }
}

/// The same in a body, where an undivided construct may be around the poll. If it polls in vain for longer than any such
/// construct should take, the cutoff is too high up.
void worker::answer_in_body(std::uintptr_t at) {
  if (at < stretch_.undivided_below && here.stepped) {
    const std::uint64_t now = ticks();
    if (polling_in_ != here.construct || polling_since_ == 0) {
      polling_in_ = here.construct;
      polling_since_ = now;
    } else if (cutoff_learner::is_far_too_long(now - polling_since_)) {
      cutoff_.add_poll(depth_of(at));
      polling_since_ = 0;
    }
  } else {
    polling_since_ = 0;
  }
  answer(at);
}

/// Answers without throwing, while waiting: a cancellation is kept for the next poll, and a put that throws gives nothing.
void worker::respond() noexcept {
  const std::uint32_t signals = box_.take_signals();
  if ((signals & attention) != 0) interrupted_ = true;
  if ((signals & (asked | parked)) != 0) {
    try {
      enter_slow_path(stack_pointer());
      serve_askers();
    } catch (...) {  // a put threw: it has given nothing
    }
    leave_slow_path();
  }
}

void worker::serve_askers() {
  trace::recorded serving(recorder_, trace::activity::divide);
  frame* oldest = nullptr;
  std::exception_ptr error;
  auto try_serve = [&](unsigned i, request seen) {
    worker& asker = of.at(i);
    auto* const wanted = reinterpret_cast<const scope*>(wanted_by(seen));
    auto find = [&](request) {
      oldest = nullptr;
      if (wanted == nullptr ? !ready.empty() : ready.holds(wanted)) return outcome::given;
      look();
      bool mine = false;
      oldest = frames_.oldest(wanted, mine);
      if (!mine) return outcome::not_mine;
      return oldest == nullptr ? outcome::nothing : outcome::given;
    };
    auto make = [&]() -> request {
      try {
        task* const t = oldest == nullptr
                            ? (wanted == nullptr ? ready.steal(nullptr) : take_ready(wanted))
                            : &split(*oldest);
        if (t != nullptr) t->runner = &asker;
        return reinterpret_cast<request>(t);
      } catch (...) {
        error = std::current_exception();
        return 0;
      }
    };
    return serve(box_, of.board, asker.box_, i, seen, find, make);
  };
  serving.found = serve_one(
                      box_, of.board, id, [this](unsigned i) -> auto& { return of.at(i).box_; },
                      try_serve) == outcome::given;
  if (error) std::rethrow_exception(error);
}

void worker::look() {
  frames_.update(here.innermost);
  set(searched, frames_.searched);
  if (frames_.size() > counted_[deepest].load(std::memory_order_relaxed))
    set(deepest, frames_.size());
}

task& worker::split(frame& f) {
  struct redo_at_exit {
    frame_list& list;
    frame& from;
    ~redo_at_exit() { list.redo_from(from); }
  };
  frames_.undo_to(f);
  set(undone, frames_.undone);
  redo_at_exit redo{frames_, f};
  task& t = *f.type().split(f);
  t.parent = frames_.scope_of(f);
  t.owner = this;
  t.depth = depth_of(reinterpret_cast<std::uintptr_t>(&f));
  t.ticks = shared_at_ = ticks();
  add(splits);
  return t;
}

/// CLEAVE_CHECK: divides what can be divided and runs the part at once, while the workspace is as it is now: a
/// part that shares it by mistake shows.
void worker::split_everywhere() {
  look();
  bool mine = false;
  if (frame* f = frames_.oldest(here.current, mine)) execute(split(*f));
}

// ---- thief

void worker::work() {
  here.self = this;
  while (task* t = next_task()) {
    execute(*t);
    box_.forget(checking);
  }
  here.self = nullptr;
}

task* worker::next_task() noexcept {
  trace::recorded waiting(recorder_, trace::activity::wait);
  auto stopping = [this] { return of.stopping.load(std::memory_order_acquire); };
  while (!stopping()) {
    waiting.found = true;
    if (task* t = find_ready(nullptr)) return t;
    waiting.found = false;  // a new run is nothing that was there
    if (task* t = of.take_root()) {
      if (strands_ != nullptr) box_.remind(profiling);
      if (of.check && of.check_pauses.load(std::memory_order_relaxed) == 0) box_.remind(checking);
      return t;
    }
    task* const t = obtain(nullptr, nullptr, [&] {
      if (stopping() || of.has_root()) return true;
      for (unsigned i = 0; i < of.size(); ++i) {
        if (!of.at(i).ready.empty()) return true;
      }
      return false;
    });
    if (t != nullptr) {
      waiting.found = true;
      return t;
    }
  }
  return nullptr;
}

task* worker::find_ready(const scope* group) noexcept {
  const unsigned n = of.size();
  for (unsigned k = 0; k < n; ++k) {
    worker& victim = of.at((id + k) % n);
    if (task* t = victim.ready.steal(group)) {
      if (k != 0) add(spawns);
      return t;
    }
  }
  return nullptr;
}

/// Asks for a part of `wanted` (null: for anything) until finished() or there is a task; returns the
/// task. Asks `likely` first, if that is not null.
template <class Ready>
task* worker::obtain(const scope* wanted, worker* likely, Ready finished) noexcept {
  trace::recorded joining(wanted != nullptr ? recorder_ : nullptr, trace::activity::join);
  // Where many more wait than there are CPUs, asking would only cut the work of those that run into crumbs.
  auto crowded = [this] { return of.board.askers.count() >= of.most_askers; };
  if (wanted == nullptr && crowded()) {
    box_.wait([&] { return finished() || !crowded(); }, [this] { respond(); },
              [] { return waiting::nap; });
    if (finished()) return nullptr;
  }
  add(wanted == nullptr ? requests : takebacks);
  random_ = random_ * 1664525u + 1013904223u;
  spinner spin(of.oversubscribed);
  const auto impatient = std::chrono::steady_clock::now() + of.patience;
  const request handed = ask(
      box_, of.board, id, asking(wanted),
      likely != nullptr ? likely->id : (random_ >> 8) % of.size(),
      [this](unsigned i) -> auto& { return of.at(i).box_; }, finished, [this] { respond(); },
      [&] {
        if (spin()) return true;
        add(sleeps);
        return false;
      },
      [&] { spin = spinner(of.oversubscribed); },
      [&] { return std::chrono::steady_clock::now() < impatient; });
  joining.found = handed != 0;
  return reinterpret_cast<task*>(handed);
}

void worker::execute(task& t) noexcept {
  {
    scope_frame inside(t);
    trace::recorded recording(recorder_, trace::activity::task, t.ticks, maker_of(t));
    const stretch outer = begin_stretch(t.depth);
    const std::uint64_t since = ticks();
    begin_to_compute(box_, of.board, id, inside.previous == nullptr);
    if (stopped(&t)) {
      t.error = std::make_exception_ptr(cancelled{});
    } else {
      if (strands_ != nullptr) strands_->begin();
      t.execute();
      if (strands_ != nullptr) strands_->pause();
    }
    if (inside.previous == nullptr) of.board.computing.clear(id);
    end_stretch(outer);
    t.ticks = ticks() - since;
    if (cutoff_learner::is_long(t.ticks) && preempted_since(since)) t.ticks = 0;
  }
  // A poll in t may have taken an attention that was meant for what goes on here.
  if (stopped(here.current)) box_.remind(attention);
  if (t.detached) {
    auto& group = static_cast<group_scope&>(*t.parent);
    worker* const owner = group.owner;
    delete &t;
    // Release: what the task wrote, to the owner that sees zero. The group may be gone afterwards.
    if (group.pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (owner == nullptr) {
      machine::wake(group.pending);
    } else if (owner != this) {
      owner->box_.ring(news);
    }
    return;
  }
  worker* const owner = t.owner;
  t.progress.store(task::finished, std::memory_order_release);  // from here on t may be gone
  if (owner == nullptr) {
    machine::wake(t.progress);
  } else if (owner != this) {
    owner->box_.ring(news);
  }
}

// ---- joins

void worker::join(task& t) noexcept {
  shared_at_ = ticks();
  // Not begun: nobody else can have it now. A task of CLEAVE_CHECK has no runner and is done.
  if (t.runner != nullptr && t.runner->box_.reclaim(address(t))) return execute(t);
  while (!t.done()) {
    if (task* part = obtain(&t, t.runner, [&] { return t.done(); })) execute(*part);
  }
  cutoff_.add_piece(t.depth, t.ticks);
  if (interrupted_) box_.remind(attention);
}

void worker::await_abandoned(task& t) noexcept {
  if (t.runner != nullptr && t.runner->box_.reclaim(address(t))) return;
  spinner spin(of.oversubscribed);
  box_.wait([&] { return t.done(); }, [this] { respond(); },
            [&] { return spin() ? waiting::spin : waiting::sleep; });
  if (interrupted_) box_.remind(attention);
}

/// A profile: at once, so that how long it takes is known when it is waited for.
void worker::run_as_spawned(task& t) {
  trace::between_strands pause(strands_);
  auto& group = static_cast<group_scope&>(*t.parent);
  const std::uint64_t here_is = strands_->position();
  execute(t);
  group.path = std::max(group.path, strands_->position());
  strands_->go_back(here_is);
}

void worker::spawn(task& t) {
  t.depth = depth_of(stack_pointer());
  if (strands_ != nullptr) return run_as_spawned(t);
  if (recorder_ != nullptr) t.ticks = ticks();
  ready.push(t);
  // seq_cst, after the push: partner of an asker that rings and then looks into the deques.
  if (here.word.load(std::memory_order_seq_cst) != 0) answer(stack_pointer());
}

task* worker::take_ready(const scope* group) noexcept {
  task* others = nullptr;
  task* found = nullptr;
  while (found == nullptr) {
    task* const t = ready.take();
    if (t == nullptr) break;
    if (t->parent == group) found = t;
    else t->before = std::exchange(others, t);
  }
  if (others == nullptr) return found;
  while (others != nullptr) {
    task& t = *others;
    others = std::exchange(t.before, nullptr);
    ready.push(t);
  }
  if (of.board.askers.any()) box_.remind(asked);
  return found;
}

void worker::wait(group_scope& group) noexcept {
  trace::between_strands pause(strands_);
  if (strands_ != nullptr) strands_->join(group.path);
  auto finished = [&] { return group.pending.load(std::memory_order_acquire) == 0; };
  while (!finished()) {
    task* t = take_ready(&group);
    if (t == nullptr) t = find_ready(&group);
    if (t == nullptr) t = obtain(&group, nullptr, finished);
    if (t != nullptr) execute(*t);
  }
  if (interrupted_) box_.remind(attention);
}

}  // namespace cleave::detail
