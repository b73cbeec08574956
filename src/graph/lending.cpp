#include "graph/lending.hpp"

#include <algorithm>
#include <utility>

// What a node notes of the subtasks that are made, and the messages of loans.
namespace cleave::detail {

lending::lending(graph_scope& g, team_node& node) : graph_(g), node_(node) {
  asks_.has_none.resize(node.size);
  asks_.next = (node.rank + 1) % node.size;
  borrowers_.resize(node.size);
}

lending::~lending() = default;

void lending::place(std::uint64_t number, std::span<const datum_use> uses, unsigned to,
                    bool asked) {
  has_spare();  // what was made before
  made_.is_kept = false;
  const bool stays = asked || nodes_->planning_.recording != nullptr ||
                     std::ranges::any_of(uses, [](const datum_use& u) {
                       return u.mode == access_mode::add || !u.of->can_make_other();
                     });
  entry made{number, {}, nullptr, to == node_.rank};
  for (const datum_use& u : uses) {
    const std::size_t d = u.of->place.number;
    if (d >= made_.versions.size()) made_.versions.resize(d + 1);
    if (!stays) made.uses.push_back({u.of, u.mode, made_.versions[d]});
  }
  for (const datum_use& u : uses)
    if (u.mode != access_mode::in) made_.versions[u.of->place.number] = number;
  if (stays) return;
  made_.is_kept = !made.is_own;
  const std::lock_guard lock(node_.mutex);
  made_.entries.push_back(std::move(made));
  if (to == node_.rank) made_.up_to = number;
}

void lending::keep(std::unique_ptr<subtask> s) {
  s->completed_ = true;  // nothing comes after this one
  const std::lock_guard lock(node_.mutex);
  entry& last = made_.entries.back();
  last.function = std::move(s);
  made_.up_to = last.number;
}

void lending::begin_waiting() noexcept {
  has_spare();
  const std::lock_guard lock(node_.mutex);
  made_.up_to = graph_.made_;
  asks_.owner_waits = true;
  asks_.has_none.assign(node_.size, false);
  asks_.is_ahead_in_vain = false;
  ask();
}

void lending::end_waiting() noexcept {
  std::deque<entry> forgotten;
  const std::lock_guard lock(node_.mutex);
  asks_.owner_waits = false;
  forgotten.swap(made_.entries);
  // The program may change data that it has here, before it goes on.
  for (borrower& b : borrowers_)
    for (std::uint64_t& v : b.values) v = std::min(v, has_another);
}

lending::entry* lending::find(std::uint64_t number) noexcept {
  const auto at = std::ranges::lower_bound(made_.entries, number, {}, &entry::number);
  return at != made_.entries.end() && at->number == number ? &*at : nullptr;
}

bool lending::is_over() const noexcept { return nodes_->between_.released || stopped(&graph_); }

/// Has a worker run one that is ready, when it is its turn.
void lending::start(subtask& s) {
  subtask* const next = graph_.order_->add(s);
  if (next == nullptr) return;
  graph_.pending.begin();
  make_ready(*next);
}

// ---- messages

std::vector<std::byte> lending::begin(kind k) const {
  auto message = nodes_->begin(distribution::kind::lending);
  byte_writer w(message);
  w.put(static_cast<std::uint8_t>(k)), w.put(std::uint32_t{node_.rank});
  return message;
}

void lending::tell(unsigned to, kind k) {
  node_.send(to, begin(k));
  node_.flush();
}

bool lending::receive(std::vector<std::byte> message, std::size_t first) {
  byte_reader r(std::span<const std::byte>(message).subspan(first));
  const auto what = static_cast<kind>(r.get<std::uint8_t>());
  const auto from = r.get<std::uint32_t>();
  if (from >= node_.size) r.fail("a member's number");
  switch (what) {
    case kind::ask: {
      const auto up_to = r.get<std::uint64_t>();
      const auto wanted = r.get<std::uint32_t>();
      answer(from, up_to, wanted, r.get<std::uint32_t>());
      return false;
    }
    case kind::loan: borrow(from, std::move(message), r); return true;
    case kind::result: take_back(from, r); return false;
    case kind::spare: asks_.has_none[from] = asks_.is_ahead_in_vain = false; break;
    case kind::given:
      asks_.waits_for_answer = false, asks_.next = from;
      asks_.is_ahead_in_vain = asks_.come == 0;
      break;
    case kind::none:
      asks_.waits_for_answer = false;
      asks_.has_none[from] = true;
      asks_.next = (from + 1) % node_.size;
      break;
    default: r.fail("a kind of message within a graph");
  }
  ask();
  return false;
}

// ---- a graph whose nodes lend

bool graph_scope::keeps_functions() const noexcept { return lends->keeps(); }
graph_memory& graph_scope::memory_of_functions() noexcept { return lends->memory_of_functions(); }
void graph_scope::keep_function(std::unique_ptr<subtask> s) { lends->keep(std::move(s)); }

}  // namespace cleave::detail
