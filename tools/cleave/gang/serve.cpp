#include "gang/serve.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <list>
#include <nlohmann/json.hpp>
#include <vector>

#include "gang/channel.hpp"
#include "gang/turns.hpp"

namespace gang {
namespace {

using nlohmann::json;
using clock = std::chrono::steady_clock;

const char* name_of(state s) {
  switch (s) {
    case state::waiting: return "waiting";
    case state::running: return "running";
    case state::paused: return "paused";
  }
  return "";
}

// Someone who has connected. The keeper of a job stays as long as its job lives.
struct client {
  channel to;
  uid_t user;
  job_id job = 0;  // 0: none
  std::string command{};
  bool gone = false;
};

// "" if it has no such text.
std::string text_of(const json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : "";
}

class daemon {
public:
  explicit daemon(std::chrono::milliseconds slice) : slice_(slice) {}

  void accepted(channel to) {
    const uid_t user = to.user();
    if (user == 0 || user == geteuid()) clients_.push_back({std::move(to), user});
  }

  // What has come from those of `polled`, which are the first clients in their order.
  void read(const std::vector<pollfd>& polled, std::size_t first) {
    auto c = clients_.begin();
    for (std::size_t i = first; i < polled.size(); ++i, ++c) {
      if (polled[i].revents == 0) continue;
      const auto message = c->to.receive();
      if (message) answer(*c, *message);
      else c->gone = true;
    }
    give_turns();
  }

  void end_of_slice() {
    if (clock::now() < end_) return;
    turns_.next();
    end_ = clock::now() + slice_;
    give_turns();
  }

  // Milliseconds until then; -1: nobody waits for it.
  int until_end_of_slice() const {
    if (!turns_.contended()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - clock::now()).count();
    return static_cast<int>(std::max<decltype(left)>(left, 0));
  }

  const std::list<client>& clients() const { return clients_; }

private:
  void answer(client& from, const json& message) {
    const std::string what = text_of(message, "do");
    json reply{{"done", true}};
    if (what == "run" && from.job == 0) {
      from.job = ++last_job_;
      from.command = text_of(message, "command").substr(0, 1000);
      turns_.add(from.job);
      reply = {{"job", from.job}};
    } else if (what == "ps") {
      reply = list();
    } else {
      reply = command(from, what, message.value("job", json()));
    }
    if (!from.to.send(reply)) from.gone = true;
  }

  json command(const client& from, const std::string& what, const json& job) {
    auto at = std::find_if(clients_.begin(), clients_.end(), [&](const client& c) {
      return c.job != 0 && !c.gone && job.is_number_integer() && c.job == job.get<long>();
    });
    if (at == clients_.end()) return {{"error", "no such job"}};
    if (from.user != 0 && from.user != at->user) return {{"error", "another user's job"}};
    if (what == "pause" && !turns_.pause(at->job)) return {{"error", "it is paused"}};
    if (what == "resume" && !turns_.resume(at->job)) return {{"error", "it is not paused"}};
    if (what == "kill" && !at->to.send({{"end", true}})) at->gone = true;
    if (what != "pause" && what != "resume" && what != "kill")
      return {{"error", "expected run, ps, pause, resume or kill"}};
    return {{"done", true}};
  }

  json list() const {
    json jobs = json::array();
    for (const client& c : clients_)
      if (c.job != 0 && !c.gone)
        jobs.push_back({{"job", c.job},
                        {"state", name_of(turns_.of(c.job))},
                        {"user", c.user},
                        {"command", c.command}});
    return {{"jobs", jobs}, {"slice_ms", slice_.count()}};
  }

  // Brings what the keepers know to what `turns_` says.
  void give_turns() {
    do {
      for (const client& c : clients_)
        if (c.gone) turns_.remove(c.job);
      clients_.remove_if([](const client& c) { return c.gone; });
      const job_id runs = turns_.running().value_or(0);
      if (runs == told_) continue;
      for (client& c : clients_)
        if (c.job != 0 && (c.job == told_ || c.job == runs))
          c.gone = !c.to.send({{"turn", c.job == runs}});
      told_ = runs;
      end_ = clock::now() + slice_;
    } while (std::any_of(clients_.begin(), clients_.end(), [](const client& c) { return c.gone; }));
  }

  std::chrono::milliseconds slice_;
  std::list<client> clients_;
  turns turns_;
  job_id last_job_ = 0;
  job_id told_ = 0;  // whose keeper was told last that its turn is; 0: none
  clock::time_point end_{};
};

}  // namespace

int serve(const std::string& socket, std::chrono::milliseconds slice) {
  channel lock;
  const channel listener = listen_at(socket, lock);
  sigset_t ends;
  sigemptyset(&ends), sigaddset(&ends, SIGINT), sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const channel signals(signalfd(-1, &ends, SFD_CLOEXEC));
  fmt::print("serves {}\n", socket), std::fflush(stdout);
  daemon d(slice);
  for (;;) {
    std::vector<pollfd> polled{{signals.descriptor(), POLLIN, 0},
                               {listener.descriptor(), POLLIN, 0}};
    const std::size_t first = polled.size();
    for (const client& c : d.clients()) polled.push_back({c.to.descriptor(), POLLIN, 0});
    if (poll(polled.data(), polled.size(), d.until_end_of_slice()) < 0) continue;
    if (polled[0].revents != 0) break;
    d.read(polled, first);
    d.end_of_slice();
    if (polled[1].revents != 0) d.accepted(accept_from(listener));
  }
  unlink(socket.c_str());
  return 0;
}

}  // namespace gang
