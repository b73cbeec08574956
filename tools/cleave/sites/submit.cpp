#include "sites/submit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <variant>

#include "common/command_line.hpp"
#include "sites/roster.hpp"

namespace sites {

namespace nats = cleave::net::nats;
using namespace std::chrono_literals;

namespace {

using clock = attendance::clock;

constexpr std::chrono::milliseconds quiet = 300ms, at_most = 3s;  // of servers that are asked
constexpr auto beat_every = 1s;
constexpr auto start_again = 500ms;
constexpr auto longest_wait = 50ms;  // then signals are looked for
constexpr auto say_goodbye_for = 1s;
constexpr int lost = 3, interrupted = 130;

// On a terminal: one line that renews itself.
class progress_line {
public:
  void show(const std::string& text) {
    if (!shown_ || text == text_) return;
    text_ = text;
    fmt::print(stderr, "\r\033[K{}", text_);
    std::fflush(stderr);
  }
  // Before something else is written.
  void clear() { show(""); }

private:
  const bool shown_ = isatty(STDERR_FILENO) != 0;
  std::string text_;
};

const char* s_of(std::uint64_t n) { return n == 1 ? "" : "s"; }

// A job from its submitter's side.
class job {
public:
  job(connection& by, const submission& what) : by_(by), what_(what) {}

  int run(interruption& stop, std::vector<server> candidates);

private:
  enum class phase { offered, running, over };

  void offer_to(const server& s);
  void hear(const nats::letter& l);
  void on(const nats::alive&);
  void on(const nats::refusal& m);
  void on(const nats::part& m);
  template <class Other>
  void on(const Other&) {}
  void beat();
  void look_at_time();
  void end(int status, const std::string& line = "");
  void cancel(const char* why);
  void print_json() const;

  connection& by_;
  const submission& what_;
  const std::string name_ = nats::random_token();
  std::vector<server> candidates_;
  server at_;
  phase is_ = phase::offered;
  int status_ = 0;
  std::uint64_t have_ = 0;
  bool has_more_ = false;  // than it has said
  clock::time_point begun_ = clock::now(), heard_, beat_at_;
  std::string output_;  // for --json
  attendance nodes_;
  attendance::totals most_;
  progress_line progress_;
};

void job::offer_to(const server& s) {
  at_ = s;
  heard_ = beat_at_ = clock::now();
}

void job::on(const nats::alive&) { is_ = phase::running; }

void job::on(const nats::refusal& m) {
  const std::string line = fmt::format("{} refuses: {}", at_.at.at.text(), m.why);
  if (is_ == phase::running)
    return end(lost, fmt::format("the job is lost: {}: {}", at_.at.at.text(), m.why));
  if (candidates_.empty()) return end(1, line);
  offer_to(candidates_.front());
  candidates_.erase(candidates_.begin());
}

void job::on(const nats::part& m) {
  is_ = phase::running;
  has_more_ = true;               // to say again, if that was lost
  if (m.number != have_) return;  // it comes again, in its order
  ++have_;
  if (m.what == nats::part::of::end) return end(m.status);
  if (m.what == nats::part::of::output && what_.json) {
    output_ += m.text;
    return;
  }
  progress_.clear();
  std::FILE* const to = m.what == nats::part::of::output ? stdout : stderr;
  if (std::fwrite(m.text.data(), 1, m.text.size(), to) != m.text.size() || std::fflush(to) != 0)
    throw std::runtime_error("cannot write to standard output");
}

void job::hear(const nats::letter& l) {
  if (const auto p = read_presence(l)) return nodes_.hear(clock::now(), l.from, *p);
  if (l.from != at_.at) return;
  const auto message = read(l);
  if (!message) return;
  heard_ = clock::now();
  const bool is_mine = std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.job; }) return m.job == name_;
        else return false;
      },
      *message);
  if (is_mine && is_ != phase::over) std::visit([&](const auto& m) { on(m); }, *message);
}

void job::beat() {
  has_more_ = false;
  if (is_ == phase::offered) {
    send(by_, at_.at,
         nats::start{name_, at_.what.hash, what_.arguments,
                     static_cast<std::uint32_t>(what_.patience.count())});
    beat_at_ = clock::now() + start_again;
  } else {
    send(by_, at_.at, nats::beat{name_, have_});
    beat_at_ = clock::now() + beat_every;
  }
}

void job::look_at_time() {
  const auto now = clock::now();
  if (!by_.is_up()) heard_ = now;  // it is this machine that nobody hears
  if (now >= beat_at_ || has_more_) beat();
  if (now - heard_ >= what_.patience && is_ == phase::offered) {
    on(nats::refusal{name_, "it does not answer"});
  } else if (now - heard_ >= what_.patience) {
    end(lost, fmt::format("the job is lost: {}, which had its root, has said nothing for {} s",
                          at_.at.at.text(), what_.patience.count()));
  }
  if (is_ == phase::over) return;
  const auto t = nodes_.total(now);
  most_ = {std::max(most_.nodes, t.nodes), std::max(most_.workers, t.workers), 0, t.tasks};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begun_).count();
  const std::string doing =
      t.nodes == 0 ? fmt::format("{} begins", at_.at.at.text())
                   : fmt::format("{} node{}, {} of {} worker{} compute{}, {} task{} crossed",
                                 t.nodes, s_of(t.nodes), t.computing, t.workers, s_of(t.workers),
                                 t.workers == 1 ? "s" : "", t.tasks, s_of(t.tasks));
  progress_.show(fmt::format("{}, {} s{}", doing, seconds, by_.is_up() ? "" : ", not connected"));
}

void job::end(int status, const std::string& line) {
  is_ = phase::over;
  status_ = status;
  progress_.clear();
  if (!line.empty()) fmt::print(stderr, "cleave: {}\n", line);
}

// Waits for the server to say that it knows, for a moment.
void job::cancel(const char* why) {
  progress_.clear();
  const auto until = clock::now() + say_goodbye_for;
  auto again = clock::now();
  bool known = false;
  while (!known && clock::now() < until) {
    if (clock::now() >= again) send(by_, at_.at, nats::cancel{name_}), again += 250ms;
    by_.wait(longest_wait);
    while (const auto l = by_.receive()) {
      const auto message = l->from == at_.at ? read(*l) : std::nullopt;
      known = known || (message && std::holds_alternative<nats::refusal>(*message));
    }
  }
  end(interrupted,
      known ? "cancelled" : fmt::format("{}; {} does not answer", why, at_.at.at.text()));
}

void job::print_json() const {
  nlohmann::ordered_json object = {
      {"job", name_},
      {"program", what_.program},
      {"arguments", what_.arguments},
      {"server", at_.at.at.text()},
      {"status", status_},
      {"seconds", std::chrono::duration<double>(clock::now() - begun_).count()},
      {"nodes", most_.nodes},
      {"workers", most_.workers},
      {"tasks_crossed", most_.tasks}};
  const auto result = nlohmann::ordered_json::parse(output_, nullptr, false);
  if (result.is_object()) object["result"] = result;
  else object["output"] = output_;
  using on_error = nlohmann::ordered_json::error_handler_t;
  fmt::print("{}\n", object.dump(-1, ' ', false, on_error::replace));
}

int job::run(interruption& stop, std::vector<server> candidates) try {
  by_.listen(std::string(nats::presence_topic) + name_);
  offer_to(candidates.front());
  candidates_.assign(candidates.begin() + 1, candidates.end());
  while (is_ != phase::over) {
    look_at_time();
    if (is_ == phase::over) break;
    by_.wait(longest_wait);
    while (const auto l = by_.receive()) hear(*l);
    if (const auto why = by_.refusal()) end(lost, "the job is lost: " + *why);
    if (is_ != phase::over && stop.seen()) cancel("interrupted");
  }
  if (has_more_) beat();
  if (what_.json) print_json();
  return std::fflush(stdout) == 0 ? status_ : 1;
} catch (...) {
  cancel("it has failed");
  throw;
}

[[noreturn]] void say_nobody(const std::vector<server>& all, const submission& what,
                             const connection& by) {
  std::set<std::string> others;
  for (const auto& s : all)
    if (!s.what.leaving) others.insert(s.what.program);
  if (others.contains(what.program) && !what.root.empty())
    throw apps::usage_error(fmt::format("{} does not offer {}", what.root, what.program));
  throw apps::usage_error(
      fmt::format("nobody offers {} to site {}{}", what.program, by.self().at.site,
                  others.empty() ? fmt::format(" ({0} --serve {1} does)", what.program, what.where)
                                 : fmt::format(", but {}", fmt::join(others, ", "))));
}

}  // namespace

int submit(const submission& what) {
  interruption stop;
  const auto connected = connect(what.where);
  connection& by = *connected;
  unsigned other_builds = 0;
  const auto suitable = [&](const std::vector<server>& all) {
    auto chosen = choose(all, what.program, other_builds);
    if (!what.root.empty())
      std::erase_if(chosen, [&](const server& s) { return s.at.at.text() != what.root; });
    return chosen;
  };
  auto all = ask_around(by, stop, quiet, at_most);
  // Somebody busy may be slow to answer.
  if (!stop.seen() && suitable(all).empty() && !all.empty())
    all = ask_around(by, stop, at_most, at_most);
  if (stop.seen()) return interrupted;
  std::shuffle(all.begin(), all.end(), std::mt19937(std::random_device{}()));
  auto chosen = suitable(all);
  if (chosen.empty()) say_nobody(all, what, by);
  if (other_builds > 0)
    fmt::print(stderr, "cleave: {} server{} of {} with another build cannot help\n", other_builds,
               s_of(other_builds), what.program);
  return job(by, what).run(stop, std::move(chosen));
}

}  // namespace sites
