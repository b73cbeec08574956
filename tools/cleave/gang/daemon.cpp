#include "gang/daemon.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "gang/channel.hpp"
#include "gang/link.hpp"
#include "gang/peers.hpp"
#include "gang/prompt.hpp"
#include "support/command_line.hpp"

namespace gang {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// The most text about jobs and nodes in one answer, which is one packet.
constexpr std::size_t most_letters = 48 << 10;
// The daemon says something this often, so that keepers know that it runs.
constexpr auto between_words = 1s;

// The name of a user on this machine. Another machine knows people by name only.
std::string name_of(uid_t user) {
  const passwd* const entry = getpwuid(user);
  return entry != nullptr && is_printable(entry->pw_name) ? entry->pw_name
                                                          : fmt::format("uid-{}", user);
}

// Someone who has connected. The keeper of a job stays as long as its job lives; it comes to the
// next daemon by itself.
struct client {
  channel to;
  std::string user;
  std::string job{};  // "": the client has no job
  std::string command{};
  std::vector<change> told{};
  moment told_at{};
  bool gone = false;

  job_id id() const { return part{user, job, {}}.id(); }
};

// The text of that name in a message; "" if there is none.
std::string text_of(const json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_of(const json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// The part of a keeper's timetable that holds from then on.
std::vector<change> from(std::vector<change> all, moment now) {
  while (all.size() > 1 && all[1].at <= now) all.erase(all.begin());
  return all;
}

bool say_the_same(const std::vector<change>& a, const std::vector<change>& b, moment now) {
  const auto x = from(a, now), y = from(b, now);
  if (x.empty() || y.empty()) return x.empty() && y.empty();
  const auto begun = [&](const change& c) { return c.at <= now; };
  return x.front().run == y.front().run && begun(x.front()) == begun(y.front()) &&
         (begun(x.front()) || x.front().at == y.front().at) &&
         std::equal(x.begin() + 1, x.end(), y.begin() + 1, y.end());
}

class statistic {
public:
  void add(std::int64_t late_us) {
    late_us_.push_back(late_us);
    if (late_us_.size() > most) late_us_.pop_front();
  }
  lateness now() const {
    if (late_us_.empty()) return {};
    std::vector<std::int64_t> sorted(late_us_.begin(), late_us_.end());
    std::sort(sorted.begin(), sorted.end());
    const auto n = sorted.size();
    return {sorted[n / 2], sorted[(n * 99 + 99) / 100 - 1], static_cast<std::int64_t>(n)};
  }

private:
  static constexpr std::size_t most = 500;
  std::deque<std::int64_t> late_us_;
};

// The last number that a job here was named by, kept in a file: jobs outlive their daemon, and come
// back to the next one under their names.
class last_number {
public:
  explicit last_number(const channel& file) : file_(file.descriptor()) {
    char text[24] = "";
    if (pread(file_, text, sizeof text - 1, 0) > 0) last_ = std::atoi(text);
  }
  int next() {
    const std::string text = fmt::format("{}\n", ++last_);
    if (pwrite(file_, text.data(), text.size(), 0) < 0)
      fmt::print(stderr, "cleave: the socket's lock: {}\n", std::strerror(errno));
    return last_;
  }
  void at_least(int n) { last_ = std::max(last_, n); }

private:
  const int file_;
  int last_ = 0;
};

class daemon {
public:
  daemon(const daemon_settings& what, const channel& lock, link* to_others)
      : link_(to_others),
        self_(to_others != nullptr ? to_others->self() : peers::name{}),
        peers_(self_, what.slice),
        own_user_(geteuid()),
        own_name_(own_user_ == 0 ? "root" : name_of(own_user_)),
        last_job_(lock) {
    if (what.log.empty()) return;
    log_.open(what.log, std::ios::app);
    if (!log_)
      throw apps::usage_error(fmt::format("--log: '{}': {}", what.log, std::strerror(errno)));
  }

  void accepted(channel to) {
    const uid_t user = to.user();
    if (user == own_user_) clients_.push_back({std::move(to), own_name_});
    else if (user == 0) clients_.push_back({std::move(to), "root"});
  }

  // Reads what has come from the clients in `polled`, which are the first ones in their order.
  void read(const std::vector<pollfd>& polled, std::size_t first) {
    auto c = clients_.begin();
    for (std::size_t i = first; i < polled.size(); ++i, ++c) {
      if (polled[i].revents == 0) continue;
      const auto message = c->to.receive();
      if (message) answer(*c, *message);
      else c->gone = true;
    }
  }

  void hear_others() {
    if (link_ == nullptr) return;
    for (const link::heard& h : link_->take()) {
      if (h.topic.empty()) {
        peers_.gone(h.from);
      } else if (h.topic == heartbeat_topic) {
        if (const auto said = decode_heartbeat(h.text)) peers_.hear(now(), h.from, *said);
      } else if (h.topic == turns_topic) {
        if (const auto said = decode_announcement(h.text))
          peers_.hear(now(), h.from, *said, link_->ahead());
      }
    }
  }

  // Does what is due, and brings what the keepers know to what is announced. Returns when it is to
  // be called next.
  moment settle() {
    for (;;) {
      for (const client& c : clients_)
        if (c.gone && !c.job.empty()) resume(c);
      clients_.remove_if([](const client& c) { return c.gone; });
      std::erase_if(standing_, [&](const auto& of) { return !has(of.first); });
      peers_.set_parts(parts());
      peers_.set_late(late_.now());
      const moment at = now();
      if (link_ != nullptr) peers_.set_joined(at, link_->is_joined());
      const moment next = peers_.step(at, link_ != nullptr ? link_->ahead() : std::nullopt);
      if (link_ != nullptr) say();
      const auto orders = peers_.take_orders();
      for (const order& o : orders) obey(o);
      if (orders.empty() && tell_keepers())
        return has_jobs() ? std::min(next, at + between_words) : next;
    }
  }

  const std::list<client>& clients() const { return clients_; }

private:
  struct stands {
    bool paused = false;
    std::uint64_t version = 0;
  };

  bool has_jobs() const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [](const client& c) { return !c.job.empty(); });
  }
  bool has(const job_id& id) const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [&](const client& c) { return !c.job.empty() && c.id() == id; });
  }

  std::vector<part> parts() const {
    std::vector<part> all;
    std::set<job_id> seen;
    for (const client& c : clients_) {
      if (c.job.empty() || !seen.insert(c.id()).second) continue;
      const auto s = standing_.find(c.id());
      const stands of = s != standing_.end() ? s->second : stands{};
      all.push_back({c.user, c.job, c.command, of.paused, of.version});
    }
    return all;
  }

  void say() {
    link_->follow(peers_.leader());
    if (const auto h = peers_.say_heartbeat()) link_->say(heartbeat_topic, encode(*h));
    if (const auto a = peers_.say_announcement()) link_->say(turns_topic, encode(*a));
  }

  // Tells keepers what has changed. False if somebody has gone meanwhile.
  bool tell_keepers() {
    const moment at = now();
    bool all = true;
    for (client& c : clients_) {
      if (c.job.empty()) continue;
      auto changes = changes_for(peers_.announced(), c.id(), standing_[c.id()].paused);
      const bool known = say_the_same(c.told, changes, at);
      if (known && at < c.told_at + between_words) continue;
      json told = json::array();
      for (const change& one : changes) told.push_back({one.at.count(), one.run, one.number});
      // A keeper that is stopped itself, in a job in a job, reads nothing meanwhile.
      c.gone = !c.to.send({{"plan", told}}) && !known;
      c.told = std::move(changes), c.told_at = at;
      all &= !c.gone;
    }
    return all;
  }

  void answer(client& from, const json& message) {
    if (message.contains("did")) return note(from, message);
    if (message.contains("ends")) return resume(from);
    const std::string what = text_of(message, "do");
    json reply;
    if (what == "run" && from.job.empty()) {
      reply = queue(from, message);
    } else if (what == "ps") {
      reply = list(static_cast<std::size_t>(number_of(message, "from")));
    } else {
      reply = command(from, what, text_of(message, "job"));
    }
    if (!from.to.send(reply)) from.gone = true;
  }

  // Notes what a keeper has done, and when.
  void note(const client& from, const json& message) {
    const auto due = number_of(message, "due"), at = number_of(message, "at");
    if (due > 0) late_.add((at - due) / 1000);
    if (!log_.is_open()) return;
    const peers::name& leader = peers_.leader();
    log_ << json{{"node", self_.machine},
                 {"leader", leader.process},
                 {"turn", number_of(message, "turn")},
                 {"job", from.job},
                 {"did", text_of(message, "did")},
                 {"due_ns", due},
                 {"at_ns", at}}
                .dump()
         << '\n'
         << std::flush;
  }

  json queue(client& from, const json& message) {
    std::string name = text_of(message, "job");
    if (message.contains("joined") && message["joined"] != (link_ != nullptr))
      return {{"error", "it was queued by a daemon of another gang"}};
    if (!name.empty() && !is_job_name(name)) return {{"error", "no name for a job"}};
    if (link_ != nullptr && !has(part{from.user, name, {}}.id()) && parts().size() >= most_parts)
      return {{"error", fmt::format("{} jobs are here already", most_parts)}};
    if (name.empty()) name = new_name();
    from.job = name;
    from.command = shortened(text_of(message, "command"));
    for (const peers::job& j : peers_.jobs())  // the job's other parts may be paused
      if (j.id() == from.id() && !standing_.count(j.id()))
        standing_[j.id()] = {j.paused, j.version};
    return {{"job", name}, {"joined", link_ != nullptr}};
  }

  // A name for a new job. Others may know numbers that are not in the file: it was removed, or
  // users have chosen them.
  std::string new_name() {
    const std::string prefix = link_ != nullptr ? self_.machine + "." : "";
    for (const peers::job& j : peers_.jobs()) {
      if (!j.name.starts_with(prefix)) continue;
      int number = 0;
      const char* const end = j.name.data() + j.name.size();
      const auto read = std::from_chars(j.name.data() + prefix.size(), end, number);
      if (read.ec == std::errc() && read.ptr == end) last_job_.at_least(number);
    }
    return prefix + std::to_string(last_job_.next());
  }

  // Finds a user's job by its name, in which this node's name may be left out.
  std::optional<peers::job> find(const std::string& user, const std::string& name) const {
    std::optional<peers::job> found;
    for (const std::string& full : {name, self_.machine + "." + name})
      for (const peers::job& j : peers_.jobs())
        if (j.name == full && (!found || j.user == user)) found = j;
    return found;
  }

  json command(const client& from, const std::string& what, const std::string& name) {
    if (what != "pause" && what != "resume" && what != "kill")
      return {{"error", "expected run, ps, pause, resume or kill"}};
    const auto job = find(from.user, name);
    if (!job) return {{"error", "no such job"}};
    if (from.user != "root" && from.user != job->user) return {{"error", "another user's job"}};
    if (what == "pause" && job->paused) return {{"error", "it is paused"}};
    if (what == "resume" && !job->paused) return {{"error", "it is not paused"}};
    if (what != "kill" && job->version >= most_version)
      return {{"error", "it was paused too often"}};
    if (!tell_all(*job, what, from.user))
      return {{"error", "too much is asked for at once; ask again"}};
    return {{"done", true}};
  }

  bool tell_all(const peers::job& job, const std::string& what, const std::string& by) {
    const auto version = std::min(job.version + 1, most_version);
    const order o{0, what, job.name, job.user, by, version};
    obey(o);
    return link_ == nullptr || peers_.add_order(now(), o);
  }

  // Resumes a job of which a part ends, as when its user interrupts it: that part cannot end the
  // others while they are paused.
  void resume(const client& part) {
    for (const peers::job& j : peers_.jobs())
      if (j.id() == part.id() && j.paused) tell_all(j, "resume", part.user);
  }

  // Obeys an order of the job's own user, or of root. The kernel says who that is, or the daemon
  // there.
  void obey(const order& o) {
    if (o.by != o.user && o.by != "root") return;
    const job_id id = part{o.user, o.job, {}}.id();
    if (!has(id)) return;
    stands& of = standing_[id];
    if (o.what == "kill") {
      for (client& c : clients_)
        if (c.id() == id && !c.to.send({{"end", true}})) c.gone = true;
    } else if (o.version > of.version && (o.what == "pause" || o.what == "resume")) {
      of = {o.what == "pause", o.version};
    }
  }

  json shown(const peers::job& j, const turn* current) const {
    const bool runs = current != nullptr && current->has(j.id());
    return {{"job", j.name},
            {"state", j.paused ? "paused"
                      : runs   ? "running"
                               : "waiting"},
            {"user", j.user},
            {"nodes", j.nodes},
            {"command", j.command}};
  }
  json shown(const peers::node& n) const {
    return {{"node", n.who.machine},
            {"here", n.self},
            {"leads", n.who == peers_.leader()},
            {"round_trip_us", n.last.round_trip_us},
            {"clock_error_us", n.last.error_us},
            {"late_us", n.last.late.median_us},
            {"late_99_us", n.last.late.most_us},
            {"changes", n.last.late.counted}};
  }

  // Lists all jobs and then all nodes, from number `first` of them on: as many as fit. "next" is
  // the first one that is missing, if any is.
  json list(std::size_t first) const {
    json reply{{"slice_ms", peers_.slice_ms()}, {"jobs", json::array()}};
    std::size_t number = 0, letters = 0;
    const auto add = [&](const char* to, const auto& show) {
      if (number++ < first || reply.contains("next")) return;
      json entry = show();
      letters += entry.dump().size();
      if (letters > most_letters && number - 1 > first) reply["next"] = number - 1;
      else reply[to].push_back(std::move(entry));
    };
    const turn* const current = peers_.announced().at(now());
    for (const peers::job& j : peers_.jobs()) add("jobs", [&] { return shown(j, current); });
    if (link_ == nullptr) return reply;
    reply["nodes"] = json::array(), reply["joined"] = link_->is_joined();
    for (const peers::node& n : peers_.nodes()) add("nodes", [&] { return shown(n); });
    return reply;
  }

  link* const link_;  // null: this node is alone
  const peers::name self_;
  peers peers_;
  const uid_t own_user_;
  const std::string own_name_;
  std::list<client> clients_;
  std::map<job_id, stands> standing_;  // the states of this node's parts
  statistic late_;
  std::ofstream log_;
  last_number last_job_;
};

std::optional<timespec> time_until(moment when) {
  if (when == moment::max()) return std::nullopt;
  constexpr long second = 1'000'000'000;
  const long left = static_cast<long>(std::max(when - now(), moment(0)).count());
  return timespec{left / second, left % second};
}

}  // namespace

int run_daemon(const daemon_settings& what) {
  channel lock;
  const channel listener = listen_at(what.socket, lock);
  const std::unique_ptr<const std::string, void (*)(const std::string*)> made(
      &what.socket, [](const std::string* path) { unlink(path->c_str()); });
  sigset_t ends;
  sigemptyset(&ends), sigaddset(&ends, SIGINT), sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const channel signals(signalfd(-1, &ends, SFD_CLOEXEC));
  be_prompt(false);
  const auto to_others = what.join.empty() ? nullptr : link::make(what.join);
  daemon d(what, lock, to_others.get());
  fmt::print("serves {}{}\n", what.socket,
             to_others != nullptr ? " as " + to_others->self().machine : ""),
      std::fflush(stdout);
  moment accepts_from{};  // when accept() is tried again after it has failed, as too many are open
  for (moment next = d.settle();;) {
    const bool accepts = now() >= accepts_from;
    if (!accepts) next = std::min(next, accepts_from);
    std::vector<pollfd> polled{{signals.descriptor(), POLLIN, 0},
                               {accepts ? listener.descriptor() : -1, POLLIN, 0},
                               {to_others != nullptr ? to_others->descriptor() : -1, POLLIN, 0}};
    const std::size_t first = polled.size();
    for (const client& c : d.clients()) polled.push_back({c.to.descriptor(), POLLIN, 0});
    const auto timeout = time_until(next);
    if (ppoll(polled.data(), polled.size(), timeout ? &*timeout : nullptr, nullptr) < 0) continue;
    if (polled[0].revents != 0) break;
    d.read(polled, first);
    d.hear_others();
    next = d.settle();
    if (polled[1].revents == 0) continue;
    if (channel to = accept_from(listener); to.descriptor() >= 0) d.accepted(std::move(to));
    else accepts_from = now() + 100ms;
  }
  return 0;
}

}  // namespace gang
