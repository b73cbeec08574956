#include "node/gathered.hpp"

namespace cleave::net {
namespace {

detail::gathered_table& here_known() noexcept { return detail::replicas_of_process().gathered(); }
detail::value_name core_name(const gathered_name& name) noexcept {
  return {name.maker, name.number};
}

}  // namespace

gathered_exchange::gathered_exchange(outlet& out, detail::carrier& net) : out_(out), net_(net) {}

void gathered_exchange::updated() {
  // release: partner of the exchange in tell().
  if (!updated_.exchange(true, std::memory_order_release)) out_.carrier().ring();
}

void gathered_exchange::tell(instant at, node& protocol, bool all) {
  all = all || (!ended_.empty() && !ended_.back().made);
  // acquire: partner of updated().
  const bool some = updated_.load(std::memory_order_relaxed) &&
                    updated_.exchange(false, std::memory_order_acquire);
  if (!some && !all) return;
  for (auto& n : here_known().take_news(all)) {
    const gathered_name name{n.name.maker, n.name.number};
    if (n.changed_alone) protocol.updated(at, name, {});
    if (!n.updates.empty()) protocol.updated(at, name, std::move(n.updates));
    if (n.absent || n.at_least != 0) protocol.wanted(at, name, n.absent, n.at_least);
  }
  for (auto t = ended_.rbegin(); t != ended_.rend() && !t->made; ++t)
    t->made = protocol.gathered().made();
}

void gathered_exchange::ended(std::unique_ptr<detail::task> t) {
  ended_.push_back({std::move(t), std::nullopt});
}

std::unique_ptr<detail::task> gathered_exchange::next_ended(const node& protocol, bool all) {
  if (ended_.empty()) return nullptr;
  const auto& made = ended_.front().made;
  if (!all && !(made && protocol.gathered().has_taken(*made))) return nullptr;
  std::unique_ptr<detail::task> t = std::move(ended_.front().what);
  ended_.pop_front();
  return t;
}

void gathered_exchange::tell_waiting() {
  if (here_known().is_awaited()) net_.tell();
}

bool gathered_exchange::has(const gathered_name& name) const {
  return here_known().has(core_name(name));
}

void gathered_exchange::arrived(const gathered_name& name, std::uint64_t version,
                                const std::vector<ordered_update>& updates) {
  std::vector<detail::arrived_update> all;
  all.reserve(updates.size());
  for (const ordered_update& u : updates)
    all.push_back({u.from == out_.self().self, u.from == name.home(), u.number, u.update});
  here_known().arrived(core_name(name), version, std::move(all));
  tell_waiting();
}

std::optional<gathered_state> gathered_exchange::here(const gathered_name& name) const {
  try {
    auto state = here_known().value(core_name(name));
    if (!state) return std::nullopt;
    out_.check_length(state->first, "a gathered variable");
    return gathered_state{std::move(state->first), state->second};
  } catch (const std::exception& e) {
    out_.say(std::string("a gathered variable cannot be written: ") + e.what());
  }
  return std::nullopt;
}

void gathered_exchange::replaced(const gathered_name& name, const gathered_value& m,
                                 const std::vector<bytes>& own) {
  here_known().replaced(core_name(name), m.version, {m.value, m.early, m.yours, own});
  tell_waiting();
}

void gathered_exchange::taken(const gathered_name& name, std::uint64_t version,
                              std::uint64_t number) {
  here_known().taken(core_name(name), version, number);
  tell_waiting();
}

void gathered_exchange::gone(const gathered_name& name) {
  here_known().gone(core_name(name));
  tell_waiting();
}

}  // namespace cleave::net
