#include "sites/submit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "machine/printable.hpp"
#include "sites/program_output.hpp"
#include "sites/roster.hpp"
#include "sites/write_some.hpp"
#include "support/command_line.hpp"

namespace sites {

namespace nats = cleave::net::nats;
using namespace std::chrono_literals;

namespace {

using clock = attendance::clock;

// The waits for answers of servers that are asked.
constexpr std::chrono::milliseconds quiet = 300ms, at_most = 3s;
constexpr auto beat_every = 1s;
constexpr auto start_again = 500ms;
constexpr auto longest_wait = 50ms;  // signals are looked for after each wait
constexpr auto say_goodbye_for = 1s;
// A server to whom its relay says that it is not there may come back with its connection.
constexpr auto gone_after = 3s;
constexpr int lost = 3, interrupted = 130;

// What the job and this command say. Its reader may rest, and what cannot be written is lost:
// neither ends the job.
class standard_error {
public:
  void add(std::string_view text) {
    clear();
    unwritten_ += text;
  }
  void say(const std::string& line) {
    add(fmt::format("cleave: {}\n", line));
    write();
  }
  bool has_room() const { return unwritten_.size() < program_output::most_unwritten; }
  bool is_written() const { return unwritten_.empty(); }
  void write(std::chrono::milliseconds wait = {}) {
    if (!write_some(to_, unwritten_, wait)) unwritten_.clear();
  }
  // Shows progress on a terminal, in one line that renews itself.
  void show(const std::string& progress) {
    if (!is_terminal_ || !is_written() || progress == shown_) return;
    shown_ = progress;
    unwritten_ = "\r\033[K" + shown_;
    write();
  }
  // Called before something else is written.
  void clear() {
    if (!shown_.empty()) unwritten_ += "\r\033[K";
    shown_.clear();
  }

private:
  const int to_ = descriptor_for(STDERR_FILENO);
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  std::string shown_, unwritten_;
};

const char* s_of(std::uint64_t n) { return n == 1 ? "" : "s"; }

// Servers that may have a root which nobody wants any more: they were silent, and came back, or the
// job is cancelled. Each is told to end it, until it says that it knows.
class given_up {
public:
  explicit given_up(connection& by) : by_(by) {}

  void add(const endpoint& at, const std::string& job) { roots_.emplace(at, job); }
  bool knows(const endpoint& at, const std::string& job) const {
    return !roots_.contains({at, job});
  }
  void cancel() {
    for (const auto& [at, job] : roots_) send(by_, at, nats::cancel{job});
    again_ = clock::now() + cancel_every;
  }
  void look_at_time() {
    if (clock::now() >= again_) cancel();
  }
  void hear(const nats::letter& l) {
    if (roots_.empty()) return;
    const auto message = read(l);
    const auto* m = message ? std::get_if<nats::refusal>(&*message) : nullptr;
    if (m != nullptr) roots_.erase({l.from, m->job});
  }

private:
  static constexpr auto cancel_every = 1s;

  connection& by_;
  std::set<std::pair<endpoint, std::string>> roots_;
  clock::time_point again_;
};

// A job from its submitter's side, until it is over or its root is lost.
class job {
public:
  // `again`: the job has begun before.
  job(connection& by, const submission& what, program_output& out, standard_error& errors,
      given_up& gone, bool again)
      : by_(by), what_(what), print_{out, errors}, gone_(gone), again_(again) {}

  // Runs the job; returns the exit status.
  int run(interruption& stop, std::vector<server> candidates);
  // Why the job may begin again; empty: it has ended otherwise.
  const std::string& lost_because() const { return lost_because_; }
  const std::string& program_hash() const { return root_.at.what.hash; }
  void print_json(int status, clock::time_point begun, int restarts) const;

private:
  enum class phase { offered, running, over };

  void offer_to(const server& s);
  void hear(const nats::letter& l);
  void hear(const endpoint& from, const presence& p);
  void on(const nats::alive&);
  void on(const nats::refusal& m);
  void on(const nats::part& m);
  template <class Other>
  void on(const Other&) {}
  void beat();
  void look_at_time();
  void end(int status, const std::string& line = "");
  void lose(std::string why);
  void write();
  void cancel(const char* why);

  struct printing {
    program_output& out;
    standard_error& errors;
    bool said_limit = false;  // a line has said that a machine's owner allows fewer workers
  };
  // The server that has the root.
  struct roots_server {
    server at;
    bool is_there = true;  // whether it is there, as far as is known
    clock::time_point heard;
    std::uint64_t have = 0;  // how many of its parts have come
    bool has_more = false;   // this process has more parts than it has told the server
    clock::time_point beat_at;
  };
  struct helpers {
    attendance present;
    attendance::totals most;
  };

  connection& by_;
  const submission& what_;
  printing print_;
  given_up& gone_;
  const bool again_;
  std::string name_;   // each server that is asked gets another name: the last one may have begun
  std::string topic_;  // the topic of what its nodes say
  std::vector<server> candidates_;
  roots_server root_;
  phase is_ = phase::offered;
  int status_ = 0;
  clock::time_point begun_ = clock::now();
  std::string lost_because_;
  helpers nodes_;
};

void job::offer_to(const server& s) {
  root_.at = s;
  name_ = nats::random_token();
  topic_ = std::string(nats::presence_topic) + name_;
  by_.listen(topic_);
  root_.heard = root_.beat_at = clock::now();
}

void job::on(const nats::alive&) {
  if (std::exchange(is_, phase::running) == phase::offered && again_)
    print_.errors.say(fmt::format("the job begins again on {}", root_.at.at.at.text()));
}

void job::on(const nats::refusal& m) {
  const std::string why = cleave::machine::printable(m.why);
  const std::string line = fmt::format("{} refuses: {}", root_.at.at.at.text(), why);
  if (is_ == phase::running) return lose(fmt::format("{}: {}", root_.at.at.at.text(), why));
  if (candidates_.empty()) return end(1, line);
  offer_to(candidates_.front());
  candidates_.erase(candidates_.begin());
}

void job::on(const nats::part& m) {
  is_ = phase::running;
  root_.has_more = true;  // the next beat says it again, if that was lost
  if (m.number != root_.have || !print_.out.has_room() || !print_.errors.has_room())
    return;  // the part comes again, in its order
  ++root_.have;
  if (m.what == nats::part::of::end) return end(m.status);
  if (m.what == nats::part::of::output) return print_.out.add(m.text);
  print_.errors.add(m.text);
}

// Writes what can be written. The reader may be slow, or rest: the server must hear of this process
// meanwhile.
void job::write() {
  if (!print_.out.is_written()) print_.errors.clear();
  print_.errors.write();
  print_.out.write();
}

void job::hear(const endpoint& from, const presence& p) {
  nodes_.present.hear(clock::now(), from, p);
  if (p.asked <= p.workers || std::exchange(print_.said_limit, true) || again_) return;
  print_.errors.say(fmt::format("{} gives a job at most {} worker{}; this one asks for {}",
                                from.at.text(), p.workers, s_of(p.workers), p.asked));
}

void job::hear(const nats::letter& l) {
  if (const auto p = read_presence(l)) {
    if (l.topic == topic_) hear(l.from, *p);
    return;
  }
  if (l.from != root_.at.at) return;
  if (l.nobody) root_.is_there = false;
  const auto message = read(l);
  if (!message) return;
  root_.heard = clock::now();
  root_.is_there = true;
  const bool is_mine = std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.job; }) return m.job == name_;
        else return false;
      },
      *message);
  if (is_mine && is_ != phase::over) std::visit([&](const auto& m) { on(m); }, *message);
}

void job::beat() {
  root_.has_more = false;
  if (is_ == phase::offered) {
    send(by_, root_.at.at,
         nats::start{name_, root_.at.what.hash, what_.arguments,
                     static_cast<std::uint32_t>(what_.patience.count()), what_.ask});
    root_.beat_at = clock::now() + start_again;
  } else {
    send(by_, root_.at.at, nats::beat{name_, root_.have}, true);
    root_.beat_at = clock::now() + beat_every;
  }
}

void job::look_at_time() {
  const auto now = clock::now();
  if (!by_.is_up()) root_.heard = now, root_.is_there = true;  // nobody hears this machine
  if (now >= root_.beat_at || root_.has_more) beat();
  gone_.look_at_time();
  if (now - root_.heard >= what_.patience && is_ == phase::offered) {
    gone_.add(root_.at.at, name_);
    on(nats::refusal{name_, "it does not answer"});
  } else if (const auto patience =
                 root_.is_there ? what_.patience : std::min(what_.patience, gone_after);
             now - root_.heard >= patience) {
    lose(fmt::format("{}, which had its root, has said nothing for {} s", root_.at.at.at.text(),
                     patience.count()));
  }
  if (is_ == phase::over) return;
  const auto t = nodes_.present.total(now);
  nodes_.most = {std::max(nodes_.most.nodes, t.nodes), std::max(nodes_.most.workers, t.workers), 0,
                 t.tasks};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begun_).count();
  const std::string doing =
      t.nodes == 0 ? fmt::format("{} begins", root_.at.at.at.text())
                   : fmt::format("{} node{}, {} of {} worker{} compute{}, {} task{} crossed",
                                 t.nodes, s_of(t.nodes), t.computing, t.workers, s_of(t.workers),
                                 t.workers == 1 ? "s" : "", t.tasks, s_of(t.tasks));
  print_.errors.show(
      fmt::format("{}, {} s{}", doing, seconds, by_.is_up() ? "" : ", not connected"));
}

void job::end(int status, const std::string& line) {
  is_ = phase::over;
  status_ = status;
  print_.errors.clear();
  if (!line.empty()) print_.errors.say(line);
}

void job::lose(std::string why) {
  gone_.add(root_.at.at, name_);
  end(lost);
  lost_because_ = std::move(why);
}

// Cancels the job, and waits a moment for the server to say that it knows.
void job::cancel(const char* why) {
  gone_.add(root_.at.at, name_);
  const auto until = clock::now() + say_goodbye_for;
  auto again = clock::now();
  while (!gone_.knows(root_.at.at, name_) && clock::now() < until) {
    if (clock::now() >= again) gone_.cancel(), again += 250ms;
    by_.wait(longest_wait);
    while (const auto l = by_.receive()) gone_.hear(*l);
  }
  end(interrupted, gone_.knows(root_.at.at, name_)
                       ? "cancelled"
                       : fmt::format("{}; {} does not answer", why, root_.at.at.at.text()));
}

void job::print_json(int status, clock::time_point begun, int restarts) const {
  nlohmann::ordered_json object = {
      {"job", name_},
      {"program", what_.program},
      {"arguments", what_.arguments},
      {"server", root_.at.at.at.text()},
      {"status", status},
      {"seconds", std::chrono::duration<double>(clock::now() - begun).count()},
      {"restarts", restarts},
      {"nodes", nodes_.most.nodes},
      {"workers", nodes_.most.workers},
      {"tasks_crossed", nodes_.most.tasks}};
  const auto result = nlohmann::ordered_json::parse(print_.out.text(), nullptr, false);
  if (result.is_object()) object["result"] = result;
  else object["output"] = print_.out.text();
  using on_error = nlohmann::ordered_json::error_handler_t;
  fmt::print("{}\n", object.dump(-1, ' ', false, on_error::replace));
}

int job::run(interruption& stop, std::vector<server> candidates) try {
  offer_to(candidates.front());
  candidates_.assign(candidates.begin() + 1, candidates.end());
  while (is_ != phase::over) {
    look_at_time();
    if (is_ == phase::over) break;
    by_.wait(longest_wait);
    while (const auto l = by_.receive()) gone_.hear(*l), hear(*l);
    write();
    const auto why = by_.refusal();
    if (why && is_ != phase::over) end(lost, "the job is lost: " + *why);
    if (is_ != phase::over && stop.seen()) cancel("interrupted");
  }
  if (root_.has_more) beat();
  return status_;
} catch (...) {
  cancel("it has failed");
  throw;
}

[[noreturn]] void say_nobody(const std::vector<server>& all, const submission& what,
                             const connection& by) {
  std::set<std::string> others;
  for (const auto& s : all)
    if (!s.what.leaving) others.insert(cleave::machine::printable(s.what.program));
  if (others.contains(what.program) && !what.root.empty())
    throw apps::usage_error(fmt::format("{} does not offer {}", what.root, what.program));
  throw apps::usage_error(
      fmt::format("nobody offers {} to site {}{}", what.program, by.self().at.site,
                  others.empty() ? fmt::format(" ({0} --serve {1} does)", what.program, what.where)
                                 : fmt::format(", but {}", fmt::join(others, ", "))));
}

// The servers that can have the root at first; `other_builds`: how many have another program by its
// name.
std::vector<server> suitable(const std::vector<server>& all, const submission& what,
                             unsigned& other_builds) {
  auto chosen = choose(all, what.program, other_builds);
  if (!what.root.empty())
    std::erase_if(chosen, [&](const server& s) { return s.at.at.text() != what.root; });
  return chosen;
}

// The servers that can have the root of a job that begins again, with the same build. The machine
// that --root names is the first to be asked, and not the only one: it may be what was lost. Waits
// for a server as long as one may be silent. There are none if nobody has come, or if this process
// shall end.
std::vector<server> wait_for_others(connection& by, interruption& stop, const submission& what,
                                    const std::string& hash) {
  auto until = clock::now() + what.patience;
  while (!stop.seen() && !by.refusal() && clock::now() < until) {
    auto all = ask_around(by, stop, quiet, at_most);
    std::erase_if(all, [&](const server& s) { return s.what.hash != hash; });
    unsigned none = 0;
    auto chosen = choose(std::move(all), what.program, none);
    const auto named = std::find_if(chosen.begin(), chosen.end(),
                                    [&](const server& s) { return s.at.at.text() == what.root; });
    if (named != chosen.end()) std::rotate(chosen.begin(), named, named + 1);
    if (!chosen.empty()) return chosen;
    if (!by.is_up()) until = clock::now() + what.patience;
  }
  return {};
}

}  // namespace

int submit(const submission& given) {
  const auto connected = connect(given.where);
  interruption stop;  // before this there is nothing to cancel
  connection& by = *connected;
  submission what = given;
  unsigned other_builds = 0;
  auto all = ask_around(by, stop, quiet, at_most);
  what.root = machine_named(all, what.program, given.root);
  // A busy server may be slow to answer.
  if (!stop.seen() && suitable(all, what, other_builds).empty() && !all.empty())
    all = ask_around(by, stop, at_most, at_most);
  if (stop.seen()) return interrupted;
  what.root = machine_named(all, what.program, given.root);
  std::shuffle(all.begin(), all.end(), std::mt19937(std::random_device{}()));
  auto chosen = suitable(all, what, other_builds);
  if (chosen.empty()) say_nobody(all, what, by);
  program_output out(what.json ? -1 : descriptor_for(STDOUT_FILENO));
  standard_error errors;
  if (other_builds > 0)
    errors.say(fmt::format("{} server{} of {} with another build cannot help", other_builds,
                           s_of(other_builds), what.program));
  const auto begun = clock::now();
  given_up gone(by);
  for (int restarts = 0;; ++restarts) {
    job j(by, what, out, errors, gone, restarts > 0);
    int status = j.run(stop, std::move(chosen));
    if (const std::string& why = j.lost_because(); !why.empty()) {
      if (!out.is_kept()) {
        errors.say("the job is lost: " + why + "; it has written too much to begin again");
      } else if (restarts == what.restarts) {
        errors.say("the job is lost: " + why);
      } else {
        errors.say(why + "; looking for another server");
        chosen = wait_for_others(by, stop, what, j.program_hash());
        if (!chosen.empty()) {
          out.begin_again();
          continue;
        }
        errors.say(stop.seen() ? "cancelled"
                               : "the job is lost: nobody else offers " + what.program);
        if (stop.seen()) status = interrupted;
      }
    }
    if (what.json) j.print_json(status, begun, restarts);
    while (!(errors.is_written() && out.is_written()) && !stop.seen())
      errors.write(longest_wait), out.write(longest_wait);
    if (!out.is_written()) return interrupted;
    return std::fflush(stdout) == 0 ? status : 1;
  }
}

}  // namespace sites
