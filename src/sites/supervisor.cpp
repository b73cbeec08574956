#include "sites/supervisor.hpp"

#include "machine/printable.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

constexpr auto announce_every = 1s;
constexpr auto forget_after = 10s;  // a job that nobody has announced for this long is forgotten
// A program starts again no sooner, and twice as late after each failure.
constexpr auto restart_after = 1s;
constexpr unsigned most_failures = 5;  // how often in a row a program may fail
constexpr auto long_life = 60s;  // a program that has lived this long was killed by something else
constexpr auto leave_within = 12s;  // members drain for 10 s at most
constexpr std::size_t most_jobs = 64;
constexpr std::size_t most_announced = 24 << 10;  // bytes: all are told of a job's arguments
constexpr std::uint32_t longest_patience = 24 * 60 * 60;

std::string in_words(const words& arguments) {
  std::string all;
  for (const std::string& a : arguments) all += " " + a;
  return cleave::machine::printable(all);
}

/// An option that says what this machine does, or writes a file here.
bool is_of_this_machine(std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  return name == "--serve" || name == "--transport" || name == "--trace";
}

/// Whether a text goes into the environment of a job's process, which alone knows the names.
bool may_be_strategy(std::string_view text) {
  constexpr std::size_t most = 64;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-,";
  return text.size() <= most && text.find_first_not_of(letters) == text.npos;
}

/// Checks arguments, whoever sends them: a submitter, or a server that says that it has the root.
std::optional<std::string> wrong_arguments(const notice& of) {
  if (encode(of).size() > most_announced) return "the arguments are longer than 24 KiB";
  if (!may_be_strategy(of.ask)) return "CLEAVE_ASK is no name of a strategy";
  return nats::wrong_arguments(of.arguments);
}

std::uint64_t seconds_since(moment then, moment now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(now - then).count());
}

}  // namespace

std::optional<std::string> wrong_arguments(const std::vector<std::string>& of) {
  const auto any = [&](auto is) { return std::any_of(of.begin(), of.end(), is); };
  if (any([](const std::string& a) { return a.find('\0') != a.npos; }))
    return "an argument has a NUL in it";
  if (any(is_of_this_machine)) return "--serve, --transport and --trace are no options of a job";
  return std::nullopt;
}

void supervisor::hear(moment now, const endpoint& from, const control& message) {
  std::visit([&](const auto& m) { on(now, from, m); }, message);
}

// ---- clients

void supervisor::on(moment now, const endpoint& from, const who&) {
  offer mine{self_.program, self_.hash, self_.workers, leaving_since_.has_value(), {}};
  for (const auto& [job, r] : rooted_)
    if (r.is == rooted::state::running)
      mine.jobs.push_back({job, r.arguments, self_.self.at.text(), true, r.submitter.at.text(),
                           seconds_since(r.since, now), r.said.workers, r.said.computing,
                           r.said.tasks_in, r.said.tasks_out});
  for (const auto& [job, h] : helped_)
    if (h.is == helped::state::running)
      mine.jobs.push_back({job, h.arguments, h.root.at.text(), false, "",
                           seconds_since(h.since, now), h.said.workers, h.said.computing,
                           h.said.tasks_in, h.said.tasks_out});
  port_.send(from, mine);
  // Whoever asks may be a server that has come just now, and does not wait for the next
  // announcement.
  for (const auto& [job, r] : rooted_)
    if (r.is == rooted::state::running && r.joined)
      port_.send(from, notice{job, self_.program, self_.hash, r.arguments, false, r.ask});
}

/// The job of that submitter: a job is nobody else's.
supervisor::rooted* supervisor::rooted_of(const endpoint& from, const std::string& job) {
  const auto at = rooted_.find(job);
  return at == rooted_.end() || at->second.submitter != from ? nullptr : &at->second;
}

std::optional<std::string> supervisor::why_not(const start& m) const {
  if (m.hash != self_.hash) return "it offers another program by this name";
  if (leaving_since_) return "it leaves";
  if (rooted_.contains(m.job) || helped_.contains(m.job)) return "it has a job of this name";
  if (rooted_.size() + helped_.size() >= most_jobs) return "it has too many jobs";
  return wrong_arguments({m.job, self_.program, m.hash, m.arguments, false, m.ask});
}

void supervisor::on(moment now, const endpoint& from, const start& m) {
  if (rooted* known = rooted_of(from, m.job)) {
    known->heard = now;
    return port_.send(from, alive{m.job, known->out.sent()});
  }
  if (const auto why = why_not(m)) return port_.send(from, refusal{m.job, *why});
  if (!port_.start_node(m.job, m.arguments, m.ask, self_.self.at, true))
    return port_.send(from, refusal{m.job, "it cannot start the program"});
  rooted r{.submitter = from,
           .arguments = m.arguments,
           .ask = m.ask,
           .patience = std::chrono::seconds(std::clamp(m.patience, 1u, longest_patience)),
           .since = now,
           .heard = now,
           .out = outbox(m.job)};
  rooted_.emplace(m.job, std::move(r));
  port_.say("job " + m.job + " from " + from.at.text() + " begins here: " + self_.program +
            in_words(m.arguments));
  port_.send(from, alive{m.job, 0});
}

void supervisor::on(moment now, const endpoint& from, const beat& m) {
  rooted* r = rooted_of(from, m.job);
  if (r == nullptr) return port_.send(from, refusal{m.job, "it has no such job"});
  r->heard = now;
  for (const part& p : r->out.acknowledged(now, m.have)) port_.send(from, p);
  port_.send(from, alive{m.job, r->out.sent()});
  if (r->is == rooted::state::ended && r->out.empty()) rooted_.erase(m.job);
}

void supervisor::on(moment now, const endpoint& from, const cancel& m) {
  rooted* r = rooted_of(from, m.job);
  if (r == nullptr) return port_.send(from, refusal{m.job, "it has no such job"});
  give_up(now, m.job, *r, "is cancelled");
}

/// Gives up a job: nobody wants its answer.
void supervisor::give_up(moment now, const std::string& job, rooted& r, const std::string& why) {
  if (r.is == rooted::state::killed) return;
  port_.send(r.submitter, refusal{job, "the job " + why});
  if (r.is == rooted::state::ended) {  // only its submitter has not said that it knows
    rooted_.erase(job);
    return;
  }
  port_.say("job " + job + " " + why);
  announce(now, job, r, true);
  r.is = rooted::state::killed;
  port_.kill(job);
}

// ---- jobs whose root is here

void supervisor::announce(moment now, const std::string& job, rooted& r, bool over) {
  r.tell_at = now + announce_every;
  if (r.joined) port_.tell_all(notice{job, self_.program, self_.hash, r.arguments, over, r.ask});
}

void supervisor::root_joined(moment now, const std::string& job) {
  const auto at = rooted_.find(job);
  if (at == rooted_.end() || at->second.joined || at->second.is != rooted::state::running) return;
  at->second.joined = true;
  announce(now, job, at->second, false);
}

void supervisor::root_left(moment now, const std::string& job) {
  const auto at = rooted_.find(job);
  if (at == rooted_.end() || !at->second.joined) return;
  announce(now, job, at->second, true);
  at->second.joined = false;
}

void supervisor::node_says(const std::string& job, const presence& p) {
  if (const auto at = rooted_.find(job); at != rooted_.end()) at->second.said = p;
  if (const auto at = helped_.find(job); at != helped_.end()) at->second.said = p;
}

void supervisor::wrote(moment now, const std::string& job, part::of what, std::string text) {
  const auto at = rooted_.find(job);
  if (at == rooted_.end() || at->second.is != rooted::state::running) return;
  rooted& r = at->second;
  port_.send(r.submitter, r.out.add(now, what, std::move(text)));
}

bool supervisor::wants_output(const std::string& job) const {
  const auto at = rooted_.find(job);
  return at == rooted_.end() || !at->second.out.full();
}

void supervisor::ended(moment now, const std::string& job, child_end how) {
  if (const auto at = rooted_.find(job); at != rooted_.end()) {
    rooted& r = at->second;
    if (r.is == rooted::state::killed) {
      rooted_.erase(at);
      return;
    }
    announce(now, job, r, true);
    r.is = rooted::state::ended;
    port_.say("job " + job + " has ended with status " + std::to_string(how.as_shell()));
    port_.send(r.submitter, r.out.add(now, part::of::end, "", how.as_shell()));
    return;
  }
  const auto at = helped_.find(job);
  if (at == helped_.end()) return;
  helped& h = at->second;
  if (h.is == helped::state::killed || leaving_since_) {
    helped_.erase(at);
    return;
  }
  // A node that was cut off from the root ends by itself, and may come back.
  if (how.as_shell() == 0 || now - h.begun_at >= long_life) h.failures = 0;
  if (how.as_shell() != 0) ++h.failures;
  if (h.failures == most_failures) {
    port_.say("job " + job + ": its program failed " + std::to_string(most_failures) +
              " times here, the last time with status " + std::to_string(how.as_shell()) +
              "; not tried again");
    h.is = helped::state::given_up;
    return;
  }
  h.is = helped::state::waiting;
  h.start_at = now + restart_after * (1 << (h.failures == 0 ? 0 : h.failures - 1));
}

// ---- jobs whose root is elsewhere

void supervisor::on(moment now, const endpoint& from, const notice& m) {
  if (from == self_.self || m.program != self_.program || m.hash != self_.hash ||
      rooted_.contains(m.job))
    return;
  auto at = helped_.find(m.job);
  if (at != helped_.end() && at->second.root != from) return;  // another's job
  if (m.over) {
    if (at == helped_.end()) return;
    if (at->second.is == helped::state::running) {
      at->second.is = helped::state::killed;
      port_.kill(m.job);
    } else if (at->second.is != helped::state::killed) {
      helped_.erase(at);
    }
    return;
  }
  if (at == helped_.end()) {
    if (leaving_since_ || rooted_.size() + helped_.size() >= most_jobs || wrong_arguments(m))
      return;
    helped h{.root = from,
             .arguments = m.arguments,
             .ask = m.ask,
             .since = now,
             .heard = now,
             .start_at = now};
    at = helped_.emplace(m.job, std::move(h)).first;
    port_.say("helps with job " + m.job + " of " + from.at.text() + ": " + self_.program +
              in_words(m.arguments));
  }
  at->second.heard = now;
  begin(now, m.job, at->second);
}

void supervisor::begin(moment now, const std::string& job, helped& h) {
  if (h.is != helped::state::waiting || h.start_at > now || leaving_since_) return;
  if (port_.start_node(job, h.arguments, h.ask, h.root.at, false)) {
    h.is = helped::state::running;
    h.begun_at = now;
    h.said = {};
  } else {
    h.start_at = now + restart_after;
  }
}

// ---- time

void supervisor::cut_off(moment now) {
  for (auto& [job, r] : rooted_) r.heard = now;
  for (auto& [job, h] : helped_) h.heard = now;
}

void supervisor::leave(moment now) {
  const bool at_once = leaving_since_.has_value();
  if (!at_once) leaving_since_ = now;
  std::erase_if(helped_, [](const auto& h) {
    return h.second.is == helped::state::waiting || h.second.is == helped::state::given_up;
  });
  for (const auto& [job, h] : helped_) at_once ? port_.kill(job) : port_.ask_to_leave(job);
  if (at_once) {
    for (auto at = rooted_.begin(); at != rooted_.end();) {
      const auto current = at++;
      give_up(now, current->first, current->second, "is given up");
    }
  } else {
    for (const auto& [job, r] : rooted_)
      if (r.is == rooted::state::running)
        port_.say("waits for job " + job + ", whose root is here; again to give it up");
  }
}

bool supervisor::is_done() const { return leaving_since_ && rooted_.empty() && helped_.empty(); }

void supervisor::tick(moment now) {
  for (auto at = rooted_.begin(); at != rooted_.end();) {
    auto& [job, r] = *at++;
    if (r.is == rooted::state::killed) continue;
    if (now - r.heard >= r.patience) {
      give_up(now, job, r, "is cancelled: its submitter is silent");
    } else if (r.is == rooted::state::running && r.tell_at <= now) {
      announce(now, job, r, false);
    }
  }
  for (auto at = helped_.begin(); at != helped_.end();) {
    const auto current = at++;
    auto& [job, h] = *current;
    if (h.is == helped::state::killed) continue;
    if (now - h.heard < forget_after) continue;
    if (h.is == helped::state::running) {
      h.is = helped::state::killed;
      port_.kill(job);
    } else {
      helped_.erase(current);
    }
  }
  if (leaving_since_ && now - *leaving_since_ >= leave_within && !killed_leavers_) {
    killed_leavers_ = true;
    for (const auto& [job, h] : helped_) port_.kill(job);
  }
}

moment supervisor::next() const {
  moment at = moment::max();
  for (const auto& [job, r] : rooted_) {
    if (r.is == rooted::state::killed) continue;
    at = std::min(at, r.heard + r.patience);
    if (r.is == rooted::state::running) at = std::min(at, r.tell_at);
  }
  for (const auto& [job, h] : helped_) {
    if (h.is == helped::state::killed) continue;
    at = std::min(at, h.heard + forget_after);
  }
  if (leaving_since_ && !killed_leavers_) at = std::min(at, *leaving_since_ + leave_within);
  return at;
}

}  // namespace cleave::net::nats
