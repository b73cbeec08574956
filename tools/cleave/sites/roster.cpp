#include "sites/roster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>

#include <algorithm>
#include <ctime>
#include <set>
#include <string_view>
#include <utility>

#include "machine/ignored.hpp"
#include "support/command_line.hpp"

namespace sites {

namespace nats = cleave::net::nats;
using namespace std::chrono_literals;

namespace {

constexpr auto ask_again = 300ms;
constexpr int rounds = 5;            // the most `at_most` that are waited in all
constexpr auto longest_wait = 50ms;  // signals are looked for after each wait

std::string_view text_of(const nats::letter& l) {
  return {reinterpret_cast<const char*>(l.content.data()), l.content.size()};
}

}  // namespace

void attendance::hear(clock::time_point now, const endpoint& from, const presence& p) {
  nodes_[from] = {p, now};
}

attendance::totals attendance::total(clock::time_point now) const {
  totals t;
  for (const auto& [who, h] : nodes_) {
    t.tasks += h.last.tasks_in;
    if (!h.last.here || now - h.at > nats::longest_silence(h.last)) continue;
    t.nodes++, t.workers += h.last.workers, t.computing += h.last.computing;
  }
  return t;
}

std::vector<server> choose(std::vector<server> all, const std::string& program,
                           unsigned& other_builds) {
  std::erase_if(all, [&](const server& s) { return s.what.program != program || s.what.leaving; });
  std::map<std::string, std::uint64_t> workers_of;
  for (const auto& s : all) workers_of[s.what.hash] += s.what.workers;
  const auto most =
      std::max_element(workers_of.begin(), workers_of.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto before = all.size();
  if (most != workers_of.end())
    std::erase_if(all, [&](const server& s) { return s.what.hash != most->first; });
  other_builds = static_cast<unsigned>(before - all.size());
  std::sort(all.begin(), all.end(), [](const server& a, const server& b) {
    return std::pair(a.what.jobs.size(), b.what.workers) <
           std::pair(b.what.jobs.size(), a.what.workers);
  });
  return all;
}

std::string machine_named(const std::vector<server>& all, const std::string& program,
                          const std::string& name) {
  std::set<std::string> found;
  for (const auto& s : all) {
    const std::string whole = s.at.at.text();
    if (whole == name) return name;
    if (s.what.program == program && whole.ends_with("." + name)) found.insert(whole);
  }
  if (name.empty() || found.empty()) return name;
  if (found.size() == 1) return *found.begin();
  throw apps::usage_error(fmt::format("--root: '{}': expected one machine, there are {}", name,
                                      fmt::join(found, " and ")));
}

// The signals that end a command. SIGINT is one even where it is ignored: what a shell begins in
// the background ignores it, and scripts send it all the same.
static sigset_t handled_signals() {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int s : {SIGINT, SIGTERM}) sigaddset(&handled, s);
  if (!cleave::machine::is_ignored(SIGHUP)) sigaddset(&handled, SIGHUP);
  return handled;
}

interruption::interruption() {
  const sigset_t handled = handled_signals();
  pthread_sigmask(SIG_BLOCK, &handled, &before_);
}
interruption::~interruption() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool interruption::seen() {
  const sigset_t handled = handled_signals();
  const timespec none{};
  while (sigtimedwait(&handled, nullptr, &none) > 0) seen_ = true;
  return seen_;
}

std::unique_ptr<connection> connect(const std::string& where) try {
  return std::make_unique<connection>(nats::find_access(where), "client-" + nats::random_token());
} catch (const nats::refused& e) { throw apps::usage_error(e.what()); }

void send(connection& by, const endpoint& to, const control& message, bool ask) {
  by.send(to, nats::kind_of(message), nats::encode(message), ask);
}

std::optional<control> read(const nats::letter& l) {
  control message;
  if (l.to_all || nats::decode(l.topic, text_of(l), message) != nullptr) return std::nullopt;
  return message;
}

std::optional<presence> read_presence(const nats::letter& l) {
  presence p;
  if (!l.to_all || !l.topic.starts_with(nats::presence_topic) ||
      nats::decode(text_of(l), p) != nullptr)
    return std::nullopt;
  return p;
}

std::vector<server> ask_around(connection& by, interruption& stop, std::chrono::milliseconds quiet,
                               std::chrono::milliseconds at_most) {
  using clock = attendance::clock;
  std::map<endpoint, offer> found;
  auto end = clock::now() + at_most;
  // An attacker that invents names could go on.
  const auto latest = clock::now() + rounds * at_most;
  auto ask_at = clock::now();
  while (clock::now() < end && !stop.seen()) {
    if (clock::now() >= ask_at) {
      by.tell_all(std::string(nats::kind_of(nats::who{})), nats::encode(nats::who{}));
      ask_at = clock::now() + ask_again;
    }
    by.wait(longest_wait);
    for (std::optional<nats::letter> l; clock::now() < latest && (l = by.receive());) {
      const auto message = read(*l);
      const offer* made = message ? std::get_if<offer>(&*message) : nullptr;
      if (made == nullptr) continue;
      if (!found.contains(l->from)) end = std::min(clock::now() + quiet, latest);
      found[l->from] = *made;
    }
  }
  std::vector<server> all;
  for (auto& [at, what] : found) all.push_back({at, std::move(what)});
  return all;
}

}  // namespace sites
