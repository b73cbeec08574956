#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/graph/graph.hpp>
#include <cleave/poll.hpp>

#include <algorithm>
#include <cstddef>
#include <new>

#include "graph/lending.hpp"
#include "graph/replay.hpp"

namespace cleave::detail {

// ---- vertices

edge* vertex::done() noexcept {
  static constinit edge mark{nullptr, nullptr};
  return &mark;
}

bool vertex::precede(edge& e) noexcept {
  edge* first = successors.load(std::memory_order_acquire);  // partner: graph_scope::complete
  do {
    if (first == done()) return false;
    e.next = first;
  } while (!successors.compare_exchange_weak(first, &e, std::memory_order_release,
                                             std::memory_order_acquire));
  return true;
}

/// A profile needs to know where subtasks ended that are done.
static bool is_profile() noexcept { return path_position() != 0; }

/// The vertex may be another subtask's as soon as memory for one is taken.
vertex* vertex_ref::get() const noexcept {
  if (at == nullptr) return nullptr;
  const bool goes_on =
      at->number == number && at->successors.load(std::memory_order_acquire) != vertex::done();
  return goes_on || is_profile() ? at : nullptr;
}

// ---- their memory

graph_memory::~graph_memory() {
  for (void* const block : all_) ::operator delete(block, std::align_val_t(line));
}

void* graph_memory::take(std::size_t size) {
  const std::size_t lines = (sizeof(vertex) + size + line - 1) / line;
  const std::size_t k = std::min(lines, classes) - 1;  // the last class is for all large ones
  last_ = k;
  if (k == classes - 1) return more(1, lines, k);
  if (free_[k] == nullptr && !is_profile())  // acquire: partner is give_back()
    free_[k] = given_back_[k].exchange(nullptr, std::memory_order_acquire);
  if (free_[k] == nullptr) free_[k] = more(at_a_time, lines, k);
  return std::exchange(free_[k], free_[k]->next);
}

std::size_t graph_memory::missing() const noexcept {
  if (all_.size() < few || free_[last_] != nullptr) return 0;
  // No large block is used again.
  const bool any = given_back_[last_].load(std::memory_order_relaxed) != nullptr;
  return any || last_ == classes - 1 ? 0 : at_a_time;
}

/// New blocks of so many lines, linked to each other.
graph_memory::free_block* graph_memory::more(std::size_t blocks, std::size_t lines, std::size_t k) {
  if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + few);
  void* const made = ::operator new(blocks* lines* line, std::align_val_t(line));
  all_.push_back(made);
  free_block* first = nullptr;
  for (std::size_t i = blocks; i-- > 0;) {
    auto* const v = ::new (static_cast<std::byte*>(made) + i * lines * line) vertex;
    v->of = this, v->size_class = static_cast<std::uint32_t>(k);
    first = ::new (v + 1) free_block{first};
  }
  return first;
}

void graph_memory::give_back(void* subtask) noexcept {
  const vertex& v = *(static_cast<vertex*>(subtask) - 1);
  if (v.size_class == classes - 1) return;  // is not used again
  auto& list = v.of->given_back_[v.size_class];
  auto* const block = ::new (subtask) free_block{list.load(std::memory_order_relaxed)};
  // Release: what was in it is gone. Partner: take().
  while (!list.compare_exchange_weak(block->next, block, std::memory_order_release,
                                     std::memory_order_relaxed)) {}
}

// ---- the uses of a datum

namespace {

/// Forgets the subtasks that nobody needs to come after any more.
void forget_done(datum_uses::list& list) {
  std::erase_if(list, [](const vertex_ref& v) { return v.get() == nullptr; });
}

/// Makes room for `more` further entries.
void make_room_in(datum_uses::list& list, std::size_t more) {
  if (list.size() + more <= list.capacity()) return;
  forget_done(list);
  constexpr std::size_t least = 4;
  const std::size_t needed = std::max(2 * list.size(), list.size() + more);
  if (needed >= list.capacity()) list.reserve(std::max(least, needed));
}

}  // namespace

void datum_uses::make_room(std::uint64_t link) {
  if (std::exchange(named_by_, link) != link) uses_ = 0;
  ++uses_;
  make_room_in(readers_, uses_), make_room_in(writers_, uses_), make_room_in(before_, uses_);
}

/// A subtask that reads what another wrote often also writes what that one read.
static void append_once(vertex_ref v, std::uint64_t link, std::vector<vertex*>& before) {
  vertex* const is = v.get();
  if (is == nullptr || is->named_by == link) return;
  before.push_back(is);
  is->named_by = link;
}

void datum_uses::collect(access_mode mode, std::uint64_t link, std::vector<vertex*>& before) const {
  const list& these = mode == access_mode::in                        ? writers_
                      : mode == access_mode::add && goes_on_adding() ? before_
                                                                     : newest();
  for (const vertex_ref& v : these) append_once(v, link, before);
}

datum_uses::list* datum_uses::long_list(access_mode mode) noexcept {
  if (mode == access_mode::out || mode == access_mode::inout) return nullptr;  // no list stays
  list& those = mode == access_mode::add && goes_on_adding()  ? before_
                : mode == access_mode::in || readers_.empty() ? writers_
                                                              : readers_;
  if (those.size() <= few) return nullptr;
  forget_done(those);
  return those.size() > few ? &those : nullptr;
}

void datum_uses::enter(access_mode mode, vertex_ref by) noexcept {
  if (mode == access_mode::in) return readers_.push_back(by);
  if (mode != access_mode::add || !goes_on_adding()) {
    std::swap(before_, readers_.empty() ? writers_ : readers_);
    readers_.clear(), writers_.clear();
    adding_ = mode == access_mode::add;
  }
  writers_.push_back(by);
}

// ---- subtasks

subtask::subtask(graph_scope& g) noexcept : group_task(g) {
  vertex& v = in_graph();
  v.number = 0;  // the number of a subtask that was here before is void
  v.successors.store(nullptr, std::memory_order_relaxed);
}

/// A subtask that comes after a list, so that others need only come after this one. It is not the
/// program's, and is done as soon as all of the list are.
class subtask::joining final : public subtask {
public:
  explicit joining(graph_scope& g) noexcept : subtask(g, kind::join) {}
  void call() override {}
};

graph_scope& subtask::graph() const noexcept { return *static_cast<graph_scope*>(parent); }

subtask::~subtask() {
  in_graph().path.store(kind_ == kind::join ? path : path_position(), std::memory_order_relaxed);
  if (completed_) return;
  if (locked_) graph().unlock(*this);
  graph().drop(in_graph().successors.exchange(vertex::done(), std::memory_order_acq_rel));
  if (in_turn_) graph().end_turn();
}

void subtask::execute() noexcept {
  graph_scope& g = graph();
  // What comes after one that threw, in the program, would not have run.
  if (g.error.is_before(in_graph().number)) {
    skip();
  } else {
    try {
      g.nodes != nullptr ? g.nodes->run(*this) : call();
    } catch (const cancelled&) {
      // The graph, or a scope around it: wait() tells.
    } catch (...) { g.keep(in_graph().number, std::current_exception()); }
  }
  g.complete(*this);
}

// ---- the graph

graph_scope::graph_scope() noexcept = default;
graph_scope::~graph_scope() {
  // Before its members are gone: others may still ask for something to do.
  if (nodes != nullptr) nodes->leave();
}

bool graph_scope::finish() {
  if (nodes != nullptr) {
    const bool whole = nodes->finish();
    if (!whole) told_stopped(this);
    return whole;
  }
  detail::wait(*this);
  if (const auto thrown = error.take(made_)) std::rethrow_exception(thrown);
  return !told_stopped(this);
}

/// Keeps an exception; called within its handler.
void graph_scope::keep(std::uint64_t number, std::exception_ptr e) noexcept {
  if (nodes != nullptr) nodes->note(number, e);
  error.keep(number, std::move(e));
}

void graph_scope::cancel_all() noexcept {
  nodes != nullptr ? nodes->cancel() : detail::cancel(*this);
}

void graph_scope::end(bool unwinds) noexcept {
  if (nodes != nullptr) return nodes->end(unwinds);
  if (unwinds) detail::stop(*this);
  detail::wait(*this);
}

vertex_ref graph_scope::enter(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                              std::span<const vertex_ref> after) {
  const std::uint64_t number = nodes != nullptr ? made_ : ++made_;
  if (nodes != nullptr) s->role_ = nodes->role();
  const vertex_ref made = link(std::move(s), uses, after, number);
  if (replay_ != nullptr) [[unlikely]]
    return made;
  if (nodes != nullptr) {
    nodes->push(nodes->rank());
    if (nodes->go_on(true)) return made;
  }
  // With so few ready subtasks their memory stays in the caches.
  constexpr std::int64_t many = 128;
  help(*this, many);
  // The last ready subtask is run, too: all others may have to come after it.
  for (std::size_t n = memory.missing(); n > 0 && help(*this); --n) {}
  return made;
}

vertex_ref graph_scope::link(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                             std::span<const vertex_ref> after, std::uint64_t number) {
  const auto adds = std::ranges::count(uses, access_mode::add, &datum_use::mode);
  if (adds != 0) s->adds_to_ = std::make_unique<datum_uses*[]>(static_cast<std::size_t>(adds));
  for (const datum_use& u : uses)
    if (u.mode == access_mode::add) s->adds_to_[s->adds_++] = &u.of->uses;
  if (replay_ != nullptr) [[unlikely]]
    return replay_->record(std::move(s), uses, after, number);
  ++links_;
  for (const datum_use& u : uses) {
    u.of->uses.make_room(links_);
    if (auto* const all = u.of->uses.long_list(u.mode)) join(*all, number);
  }
  before_.clear();
  for (const datum_use& u : uses) u.of->uses.collect(u.mode, links_, before_);
  for (const vertex_ref& v : after) append_once(v, links_, before_);
  const std::uint32_t met = put_behind(*s, number);
  const vertex_ref made{&s->in_graph(), number, nodes != nullptr ? nodes->rank() : 0};
  for (const datum_use& u : uses) u.of->uses.enter(u.mode, made);
  are_met(*s.release(), met);  // the subtask owns itself, or the deque does
  return made;
}

/// N that add and M that read what they add to have N + M edges so, and not N * M.
void graph_scope::join(datum_uses::list& all, std::uint64_t number) {
  // The memory is taken first: it may be the block of one of the list that has just ended.
  std::unique_ptr<subtask> s(new (memory) subtask::joining(*this));
  before_.clear();
  for (const vertex_ref& v : all)
    if (vertex* const is = v.get()) before_.push_back(is);
  const std::uint32_t met = put_behind(*s, number);
  all.assign(1, {&s->in_graph(), number, 0});  // less than there was: it does not throw
  are_met(*s.release(), met);
}

/// Puts a subtask behind those in before_. Returns how many of what it waits for need not be waited
/// for: those that are done, and its being made. Throws std::bad_alloc; then nothing has happened.
std::uint32_t graph_scope::put_behind(subtask& s, std::uint64_t number) {
  edge* next = s.edges_.data();
  if (before_.size() > s.edges_.size()) {
    s.more_edges_ = std::make_unique<edge[]>(before_.size());
    next = s.more_edges_.get();
  }
  const bool arrives = s.kind_ == subtask::kind::receive;
  vertex& v = s.in_graph();
  v.number = number;
  v.unmet.store(1 + static_cast<std::uint32_t>(before_.size()) + (arrives ? 1 : 0),
                std::memory_order_relaxed);
  if (arrives) nodes->await_arrival(s);
  // Nothing throws from here on.
  std::uint32_t met = 1;
  for (vertex* const b : before_) {
    *next = {&v, nullptr};
    if (b->precede(*next)) ++next;
    else ++met;
    s.path = std::max(s.path, b->path.load(std::memory_order_relaxed));
  }
  before_.clear();
  return met;
}

/// Counts off `met` of what the subtask waits for, and starts it if that was all.
void graph_scope::are_met(subtask& s, std::uint32_t met) {
  // acq_rel: what those before it did. Partner: complete().
  if (s.in_graph().unmet.fetch_sub(met, std::memory_order_acq_rel) == met) {
    if (lock(s)) start(s);
  } else if (s.kind_ != subtask::kind::join) {
    poll();
  }
}

/// Starts a subtask that is ready and has the locks that it needs.
void graph_scope::start(subtask& s) {
  if (s.replayed_ != nullptr) return s.replayed_->in.make_ready(*s.replayed_);
  switch (s.kind_) {
    case subtask::kind::call: return order_ != nullptr ? start_in_order(s) : spawn(s);
    case subtask::kind::receive: return make_ready(s);
    case subtask::kind::send:
      if (!detail::stopped(this)) s.execute();
      delete &s;
      return;
    case subtask::kind::join: complete(s); delete &s;
  }
}

void graph_scope::start_or_keep(subtask& s) noexcept {
  const std::uint64_t number = s.in_graph().number;
  try {
    start(s);
  } catch (const cancelled&) {
    // wait() tells.
  } catch (...) { keep(number, std::current_exception()); }
}

/// Gives the subtask the locks of all data that it adds to; or it waits for one of them, and has
/// none. Called with locks_mutex_ held.
bool graph_scope::take_locks(subtask& s) noexcept {
  for (datum_uses* const d : s.adds_to()) {
    auto& [taken, first, last] = d->lock;
    if (!taken) continue;
    (first == nullptr ? first : last->next_) = &s;
    last = &s;
    return false;
  }
  for (datum_uses* const d : s.adds_to()) d->lock.taken = true;
  return s.locked_ = true;
}

/// Called when nothing is left that the subtask must come after. Returns whether it can run at
/// once.
bool graph_scope::lock(subtask& s) noexcept {
  if (s.adds_ == 0) return true;
  const std::lock_guard guard(locks_mutex_);
  return take_locks(s);
}

/// Tries the subtasks that wait for what this one added to, in the order in which they came.
void graph_scope::unlock(subtask& s) noexcept {
  subtask* ready = nullptr;
  {
    const std::lock_guard guard(locks_mutex_);
    s.locked_ = false;
    for (datum_uses* const d : s.adds_to()) d->lock.taken = false;
    for (datum_uses* const d : s.adds_to()) {
      auto& [taken, first, last] = d->lock;
      while (!taken && first != nullptr) {
        subtask& next = *std::exchange(first, first->next_);
        next.next_ = nullptr;
        if (take_locks(next)) next.next_ = std::exchange(ready, &next);
      }
    }
  }
  while (ready != nullptr) {
    subtask& next = *std::exchange(ready, ready->next_);
    next.next_ = nullptr;
    start_or_keep(next);
  }
}

void graph_scope::complete(subtask& s) noexcept {
  s.completed_ = true;
  if (s.locked_) unlock(s);
  // Release: what the subtask did, to those after it. Partners: precede() and the last fetch_sub of
  // unmet.
  edge* e = s.in_graph().successors.exchange(vertex::done(), std::memory_order_acq_rel);
  while (e != nullptr) {
    vertex& to = *e->to;
    e = e->next;  // the edge may be gone soon
    if (to.unmet.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      subtask& next = subtask::of(to);
      if (lock(next)) start_or_keep(next);
    }
  }
  if (s.in_turn_) end_turn();
  if (nodes != nullptr) nodes->completed(s);
}

/// Drops the subtasks that come after nothing but a dropped one. Their destructors do not, as they
/// would nest as deep as the graph is long.
void graph_scope::drop(edge* first) noexcept {
  while (first != nullptr) {
    vertex& to = *first->to;
    edge* rest = first->next;
    if (to.unmet.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      subtask& s = subtask::of(to);
      if (s.kind_ == subtask::kind::receive) {
        make_ready(s);  // the subtask counts as pending
      } else {
        s.completed_ = true;
        edge* more = to.successors.exchange(vertex::done(), std::memory_order_acq_rel);
        edge** end = &more;
        while (*end != nullptr) end = &(*end)->next;
        *end = rest, rest = more;
        delete &s;
      }
    }
    first = rest;
  }
}

}  // namespace cleave::detail
