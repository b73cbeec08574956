#include "graph/lending.hpp"

#include <cleave/detail/set_while.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include "graph/recorder.hpp"
#include "travel/exceptions.hpp"

// The node that lends.
namespace cleave::detail {
namespace {

/// How many a thread that completes subtasks looks at to know whether there is one, and how long it
/// does not when there was none, in microseconds.
constexpr std::size_t few_ready = 8;
constexpr double pause = 50;
/// What is ready is looked at so much later by the thread that receives: after a pause, and if
/// nothing was worth lending.
constexpr std::chrono::milliseconds soon{1}, later{20};

/// Whether this thread completes a subtask, and has the team's mutex.
thread_local bool is_completing = false;

}  // namespace

/// Stands for a subtask that is lent, as something that is pending. A worker that runs it counts it
/// off.
class lending::lent final : public subtask {
public:
  explicit lent(lending& by) noexcept : subtask(by.graph_) {}
  /// The subtasks after it are dropped with it, if it was not completed.
  ~lent() override { delete of; }
  void call() override {}

  subtask* of = nullptr;
  std::vector<use_of> uses;
  double cost = 0;  // microseconds of this node
};

void lending::start_in_order(subtask& s) {
  std::unique_ptr<subtask> owned(&s);
  subtask* const next = graph_.order_->add(s);
  static_cast<void>(owned.release());  // the order owns it
  if (next == nullptr) return;
  if (!is_completing) return spawn(*next);
  graph_.pending.begin();
  make_ready(*next);
}

/// Tells one of those that have asked in vain, if one of the earliest that wait could be lent to
/// it.
void lending::has_spare() noexcept {
  // seq_cst: whoever has added to those that wait comes here afterwards. Partner: answer().
  if (asked_ == 0 || graph_.order_->waiting() == 0) return;
  std::unique_lock lock(node_.mutex, std::defer_lock);
  if (!is_completing) lock.lock();
  // The caller may be the last one for long: it is about to begin a subtask, or to wait.
  if (recorder::now() < looks_at_) return node_.look_after(soon);
  look_for_spare(few_ready);
}

/// Called with the team's mutex.
void lending::look_for_spare(std::size_t at_most) noexcept {
  if (is_over() || asked_ == 0 || graph_.order_->waiting() == 0) return;
  for (unsigned i = 0; i < node_.size; ++i) {
    borrower& b = borrowers_[i];
    if (!b.has_asked || !graph_.order_->has([&](std::span<subtask* const> from) {
          return std::ranges::any_of(from.first(std::min(from.size(), at_most)),
                                     [&](subtask* s) { return may_be_lent(*s, b); });
        }))
      continue;
    b.has_asked = false, --asked_;
    return tell(i, kind::spare);
  }
  looks_at_ = recorder::now() + pause;
  node_.look_after(later);
}

bool lending::may_be_lent(subtask& s, const borrower& to) noexcept {
  const std::uint64_t number = s.in_graph().number;
  if (number > to.up_to || graph_.error.is_before(number)) return false;
  const entry* const e = find(number);
  if (e == nullptr || !e->is_own) return false;
  return worth_.is(typeid(s), recorder::now());
}

/// How many bytes the borrower lacks of what the subtask uses, as far as is known.
std::size_t lending::missing(const borrower& to, const entry& e) const noexcept {
  std::size_t bytes = 0;
  for (const use_of& u : e.uses) {
    const std::size_t d = u.of->place.number;
    const std::uint64_t has = d < to.values.size() ? to.values[d] : has_nothing;
    const bool lacks =
        u.mode == access_mode::out ? has == has_nothing : has != u.version + has_some;
    if (lacks) bytes += 1 + (d < made_.sizes.size() ? made_.sizes[d] : 0);
  }
  return bytes;
}

/// The one that the borrower has most of; of those alike, the earliest.
std::optional<std::size_t> lending::choose(std::span<subtask* const> from,
                                           const borrower& to) noexcept {
  std::optional<std::size_t> best;
  std::pair<std::size_t, std::uint64_t> least;
  for (std::size_t i = 0; i < std::min(from.size(), most_looked_at); ++i) {
    if (!may_be_lent(*from[i], to)) continue;
    const entry& e = *find(from[i]->in_graph().number);
    const std::pair lacks{missing(to, e), e.number};
    if (best && least <= lacks) continue;
    best = i, least = lacks;
  }
  // While one waits another one is in turn: so the group's owner waits for something meanwhile.
  if (best) graph_.pending.begin();
  return best;
}

void lending::answer(unsigned to, std::uint64_t up_to, unsigned wanted, unsigned ahead) {
  borrower& b = borrowers_[to];
  b.up_to = up_to;
  // Before the look. seq_cst: partner of has_spare().
  if (!std::exchange(b.has_asked, true)) ++asked_;
  const unsigned workers = workers_of(graph_);
  unsigned given = 0;
  const auto is_enough = [&] {
    return given >= wanted && (given >= wanted + ahead || graph_.order_->waiting() <= workers);
  };
  while (!is_enough() && !is_over() && lend_one(to)) ++given;
  const bool is_none = given == 0 && wanted != 0;
  if (!is_none && std::exchange(b.has_asked, false)) --asked_;
  if (is_none && graph_.order_->waiting() != 0)
    node_.look_after(later);  // they may be worth it then
  tell(to, is_none ? kind::none : kind::given);
}

bool lending::lend_one(unsigned to) {
  borrower& b = borrowers_[to];
  std::unique_ptr<lent> made(new (memory_) lent(*this));
  subtask* const s =
      graph_.order_->take([&](std::span<subtask* const> from) { return choose(from, b); });
  if (s == nullptr) return false;
  lent& l = *made.release();
  const std::uint64_t number = s->in_graph().number;
  try {
    const double began = recorder::now();
    const entry& e = *find(number);
    l.uses = e.uses;
    l.of = s;
    lent_.emplace(number, &l);
    auto message = begin(kind::loan);
    byte_writer(message).put(number);
    pack(message, e, b);
    node_.send(to, message);
    l.cost = recorder::now() - began;
    return true;
  } catch (...) {
    lent_.erase(number);
    for (const use_of& u : l.uses)
      if (u.of->place.number < b.values.size()) b.values[u.of->place.number] = has_nothing;
    l.of = s;
    keep_here(l);
    return false;
  }
}

/// What the borrower lacks.
void lending::pack(std::vector<std::byte>& message, const entry& e, borrower& to) {
  byte_writer w(message);
  for (const use_of& u : e.uses) {
    const std::size_t d = u.of->place.number;
    if (d >= to.values.size()) to.values.resize(d + 1);
    if (d >= made_.sizes.size()) made_.sizes.resize(d + 1);
    const bool has = u.mode == access_mode::out ? to.values[d] != has_nothing
                                                : to.values[d] == u.version + has_some;
    w.put(!has);
    if (has) continue;
    const std::size_t before = message.size();
    u.of->put(w);
    made_.sizes[d] = message.size() - before;
    to.values[d] = u.version + has_some;
  }
}

/// Has the subtask run here after all. What stands for it only counts off.
void lending::keep_here(lent& l) noexcept {
  subtask& s = *std::exchange(l.of, nullptr);
  if (entry* const e = find(s.in_graph().number)) e->is_own = false;
  try {
    start(s);
  } catch (...) {
    graph_.keep(s.in_graph().number, std::current_exception());
    l.of = &s;  // is dropped
  }
  make_ready(l);
}

void lending::take_back(unsigned from, byte_reader r) {
  const auto number = r.get<std::uint64_t>();
  const auto how = static_cast<ending>(r.get<std::uint8_t>());
  const auto run = r.get<double>();
  const auto at = lent_.extract(number);
  if (at.empty()) return;
  lent& l = *at.mapped();
  if (is_over()) return make_ready(l);
  auto& values = borrowers_[from].values;
  for (const use_of& u : l.uses) {
    auto& v = values[u.of->place.number];
    if (how == ending::error) v = std::min(v, has_another);
    if (how == ending::values && u.writes()) v = number + has_some;
  }
  if (how == ending::not_run) {
    nodes_->get_state(r);
    if (!graph_.error.is_before(number)) return keep_here(l);
  }
  complete(l, number, how, run, r);
}

/// Completes a subtask whose result is back. Its node's workers may be in long ones, and others
/// wait for it: so the thread that receives does that.
void lending::complete(lent& l, std::uint64_t number, ending how, double run,
                       byte_reader& r) noexcept {
  const set_while completing(is_completing);
  if (!graph_.error.is_before(number)) try {
      const double began = recorder::now();
      if (how == ending::error) std::rethrow_exception(get_exception(r));
      for (const use_of& u : l.uses)
        if (u.writes()) u.of->get(r);
      r.expect_end();
      const subtask& done = *l.of;
      const double now = recorder::now();
      worth_.note(typeid(done), run, l.cost + now - began, now);
    } catch (...) { graph_.keep(number, std::current_exception()); }
  graph_.complete(*l.of);
  has_spare();
  make_ready(l);
}

void lending::release() noexcept {
  asks_.may_ask = false;
  for (const auto& [number, l] : std::exchange(lent_, {})) make_ready(*l);
}

}  // namespace cleave::detail
