#include "transport/transport.hpp"

#include "machine/random.hpp"
#include "nats/connection.hpp"
#include "nats/place.hpp"
#include "nats/presence.hpp"
#include "nats/silence.hpp"
#include "transport/open_plugin.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto presence_every = 500ms;
// Where there are more nodes than this, each says less often that it is there.
constexpr std::size_t few = 16;
constexpr auto presence_seldom = 60s;  // a node says so at least this often
constexpr auto look_every = 100ms;     // how often a node looks which others are silent
constexpr auto lost_without = 30s;     // if the relay is away for longer, nobody is there
constexpr auto farewell = 200ms;       // what was sent before a farewell may come after it
constexpr auto ask_every = 100ms;      // how often the relay is asked whether anybody listens there
constexpr auto first_within = 10s;     // the first node has to be heard of by then
constexpr std::size_t most_queued = std::size_t{256} << 20;  // bytes

constexpr std::string_view message_kind = "m", presence_kind = "here";

/// Nodes that come and go, each a process behind a relay.
///
/// Long messages go part by part, whenever there is nothing else to do: meanwhile others are heard
/// and answered, and hear that this node is there. What follows to the same node waits.
///
/// Invariant: whoever is in `known_` was heard of, and is not lost; it is in `told_.found` until
/// the driver knows it, and no longer. An address belongs to the machine that was the first to
/// speak from it, the first node's to the one that the environment names.
class nats_transport final : public transport {
public:
  nats_transport(const access& key, place at);
  ~nats_transport() override;

  address self() const noexcept override { return place_.self; }
  std::vector<address> peers() const override;
  distance how_far(address peer) const noexcept override;
  std::uint64_t site(address peer) const noexcept override;
  std::string name(address peer) const override;
  std::size_t longest_message() const noexcept override { return relay_.longest_message(); }
  void send(address to, bytes message) override;
  std::optional<incoming> receive() override;
  std::optional<address> lost() override;
  std::optional<address> found() override;
  void wait(std::chrono::microseconds at_most) override;
  void ring() noexcept override;
  traffic counted() const noexcept override;
  void show(const progress& now) override { shown_ = now; }

private:
  struct member {
    endpoint at;
    nats::silence silence;  // the node is lost when it is silent for too long
    clock::time_point asked;
  };
  using known_member = std::map<address, member>::iterator;

  void hear();
  void hear(letter said);
  void hear_presence(known_member who, const letter& said, bool is_new);
  known_member sender(const endpoint& from, bool& is_new, bool may_be_new);
  void note_time();
  bool send_queued();
  void forget(known_member who);
  std::chrono::milliseconds interval() const;
  std::string presence(bool here) const;
  std::string topic() const { return std::string(presence_topic) + place_.job; }

  const place place_;
  const std::string incarnation_ = random_token();
  connection relay_;
  std::map<address, member> known_;
  struct queued {
    bytes message;
    connection::outgoing so_far;
  };
  using queue = std::deque<queued>;
  struct all_queues {
    std::map<address, queue> of;  // none is empty
    std::size_t bytes = 0;
    address last = 0;  // the node that something was sent to last
  };
  // What the driver is to be told, or was told.
  struct changes {
    std::deque<address> found, lost;
    // Nodes that have said that they go; nobody gets their addresses again.
    std::set<address> departed;
    std::set<std::string> refused;
  };
  struct times {
    std::chrono::milliseconds every = presence_every;
    clock::time_point next_presence{}, next_look{};
    clock::time_point up_at;     // when the relay was last seen
    clock::time_point first_by;  // the first node has to be heard of until then
    unsigned made = 0;           // how often the connection has been made
  };
  all_queues queues_;
  std::deque<incoming> arrived_;
  changes told_;
  std::atomic<bool> rung_{false};
  progress shown_;
  traffic counted_;
  times times_;
  relays_word word_;
};

connection::settings patiently() {
  connection::settings how;
  how.tries = 150;  // enough to wait for a relay that is being restarted, 30 s at least
  return how;
}

nats_transport::nats_transport(const access& key, place at)
    : place_(std::move(at)),
      relay_(key, place_.job + "-" + cleave::machine::in_hexadecimal(place_.self), patiently()),
      shown_{.workers = place_.workers} {
  times_.up_at = clock::now();
  times_.first_by = clock::now() + first_within;
  if (place_.self == 0 && relay_.self().at != place_.root)
    throw std::invalid_argument("--transport nats: CLEAVE_ROOT: expected this machine, " +
                                relay_.self().at.text() + ", where CLEAVE_NODE is 0");
  relay_.listen(topic());
  note_time();
}

nats_transport::~nats_transport() {
  while (send_queued()) continue;
  for (const auto& [who, node] : known_) relay_.send(node.at, presence_kind, presence(false));
  relay_.tell_all(topic(), presence(false));
  relay_.flush();
}

// ---- who is there

std::vector<address> nats_transport::peers() const {
  std::vector<address> all;
  for (const auto& [who, node] : known_) all.push_back(who);
  return all;
}

distance nats_transport::how_far(address peer) const noexcept {
  const auto at = known_.find(peer);
  const machine& mine = relay_.self().at;
  if (at == known_.end() || at->second.at.at.site != mine.site) return distance::far;
  return at->second.at.at == mine ? distance::same_host : distance::same_site;
}

std::uint64_t nats_transport::site(address peer) const noexcept {
  const auto at = known_.find(peer);
  return at == known_.end() ? 0 : std::hash<std::string_view>{}(at->second.at.at.site);
}

std::string nats_transport::name(address peer) const {
  const auto at = known_.find(peer);
  const std::string where = at != known_.end() ? at->second.at.at.text() : "a machine that is gone";
  return "node " + cleave::machine::in_hexadecimal(peer) + " (" + where + ")";
}

/// How often this node says that it is there. Each node hears of some 32 others in a second,
/// however many there are. The first node says it as often as ever: without it there is nothing to
/// do.
std::chrono::milliseconds nats_transport::interval() const {
  if (place_.self == 0) return presence_every;
  const auto all = static_cast<std::int64_t>(known_.size());
  return std::clamp<std::chrono::milliseconds>(presence_every * all / few, presence_every,
                                               presence_seldom);
}

std::string nats_transport::presence(bool here) const {
  return encode(nats::presence{
      here, incarnation_, shown_.workers, shown_.computing, shown_.tasks_in, shown_.tasks_out,
      static_cast<std::uint32_t>(times_.every.count()), place_.asked_workers});
}

/// The sender of a letter, if it is a node of this job; end() if it is not, or if it says so
/// wrongly.
nats_transport::known_member nats_transport::sender(const endpoint& from, bool& is_new,
                                                    bool may_be_new) {
  is_new = false;
  const std::string_view process = from.process;
  const bool of_job = process.starts_with(place_.job) && process.size() > place_.job.size() &&
                      process[place_.job.size()] == '-';
  const auto who = of_job ? read_address(process.substr(place_.job.size() + 1)) : std::nullopt;
  if (!who || *who == place_.self ||
      cleave::machine::in_hexadecimal(*who) != process.substr(place_.job.size() + 1) ||
      told_.departed.count(*who) != 0)
    return known_.end();
  const auto at = known_.find(*who);
  const bool wrong =
      at != known_.end() ? at->second.at.at != from.at : *who == 0 && from.at != place_.root;
  if (wrong) {
    const std::string line = "node " + cleave::machine::in_hexadecimal(*who) + " of job " +
                             place_.job + " is not on machine " + from.at.text() + ": refused";
    if (told_.refused.size() < 64 && told_.refused.insert(line).second)
      std::fprintf(stderr, "cleave: %s\n", line.c_str());
    return known_.end();
  }
  if (at != known_.end() || !may_be_new) return at;
  is_new = true;
  told_.found.push_back(*who);
  return known_.insert({*who, {from, {clock::now(), longest_silence({})}, {}}}).first;
}

/// Forgets a node. One that the driver does not know yet is not told as lost.
void nats_transport::forget(known_member who) {
  const auto unknown = std::find(told_.found.begin(), told_.found.end(), who->first);
  if (unknown != told_.found.end()) {
    told_.found.erase(unknown);
  } else {
    told_.lost.push_back(who->first);
  }
  known_.erase(who);
}

std::optional<address> nats_transport::lost() {
  if (told_.lost.empty()) return {};
  const address who = told_.lost.front();
  told_.lost.pop_front();
  return who;
}

std::optional<address> nats_transport::found() {
  if (told_.found.empty()) return {};
  const address who = told_.found.front();
  told_.found.pop_front();
  return who;
}

/// Does what is due: says that this node is there, and forgets nodes that are silent for too long.
void nats_transport::note_time() {
  const auto now = clock::now();
  const bool again = std::exchange(times_.made, relay_.times_made()) != relay_.times_made();
  if (relay_.is_up()) {
    if (again) {
      word_.connected(now, times_.made);
      for (auto& [who, node] : known_) node.silence.end(now);
    }
    times_.up_at = now;
    if (again || now >= times_.next_presence) {
      times_.every = interval();
      relay_.tell_all(topic(), presence(true));
      times_.next_presence = now + times_.every;
    }
  }
  if (now < times_.next_look) return;
  times_.next_look = now + look_every;
  const bool alone = now - times_.up_at > lost_without || relay_.refusal().has_value();
  for (auto at = known_.begin(); at != known_.end();) {
    const auto current = at++;
    if (alone || (relay_.is_up() && current->second.silence.is_too_long(now))) forget(current);
  }
  if (times_.first_by != clock::time_point::max() && now > times_.first_by && place_.self != 0) {
    told_.lost.push_back(0);
    times_.first_by = clock::time_point::max();
  }
}

// ---- messages

void nats_transport::send(address to, bytes message) {
  const auto at = known_.find(to);
  if (at == known_.end()) return;
  const auto waits = queues_.of.find(to);
  // The protocol sends again what may be lost, and does not know that it waits here.
  if (waits != queues_.of.end() &&
      std::any_of(waits->second.begin(), waits->second.end(),
                  [&](const queued& q) { return q.message == message; }))
    return;
  ++counted_.sent;
  counted_.sent_bytes += message.size();
  if (waits != queues_.of.end() || relay_.needs_parts(message.size())) {
    queues_.bytes += message.size();
    queues_.of[to].push_back({std::move(message), {}});
    while (queues_.bytes > most_queued && send_queued()) hear(), note_time();
    return;
  }
  const auto now = clock::now();
  const bool ask = now - at->second.asked > ask_every;
  if (ask) at->second.asked = now;
  relay_.send(at->second.at, message_kind, message, ask);
}

/// Sends one part, or one message that has waited, to each node in turn. False: there is nothing
/// left.
bool nats_transport::send_queued() {
  if (queues_.of.empty()) return false;
  auto at = queues_.of.upper_bound(queues_.last);
  if (at == queues_.of.end()) at = queues_.of.begin();
  queues_.last = at->first;
  queue& all = at->second;
  queued& next = all.front();
  const auto who = known_.find(at->first);
  bool more = false;
  if (who != known_.end() && (next.so_far.done != 0 || relay_.needs_parts(next.message.size())))
    more = relay_.send_part(who->second.at, message_kind, next.message, next.so_far);
  else if (who != known_.end()) relay_.send(who->second.at, message_kind, next.message);
  if (more) return true;
  queues_.bytes -= next.message.size();
  all.pop_front();
  if (all.empty()) queues_.of.erase(at);
  return !queues_.of.empty();
}

void nats_transport::hear() {
  while (auto said = relay_.receive()) hear(*std::move(said));
}

void nats_transport::hear(letter said) {
  bool is_new = false;
  const auto who = sender(said.from, is_new, !said.nobody);
  if (who == known_.end()) return;
  if (said.nobody) return who->second.silence.nobody_listens(clock::now(), word_);
  who->second.silence.end(clock::now());
  if (who->first == 0) times_.first_by = clock::time_point::max();
  if (said.unfinished) return arrived_.push_back({who->first, {}});
  if (!said.to_all && said.topic == message_kind) {
    ++counted_.received;
    counted_.received_bytes += said.content.size();
    arrived_.push_back({who->first, std::move(said.content)});
  } else if (said.to_all || said.topic == presence_kind) {
    hear_presence(who, said, is_new);
  }
}

/// A new node is told of this one at once. When a node says directly that it goes, everything else
/// that it sent has been heard.
void nats_transport::hear_presence(known_member who, const letter& said, bool is_new) {
  nats::presence of;
  const std::string_view text(reinterpret_cast<const char*>(said.content.data()),
                              said.content.size());
  if (decode(text, of) != nullptr) return;
  // An answer may come after what was told to all later: the two come by different subscriptions.
  const auto longest = longest_silence(of);
  nats::silence& of_it = who->second.silence;
  of_it.bear(said.to_all ? longest : std::max(of_it.longest(), longest));
  const bool goes = !of.here;
  if (goes && !said.to_all) {
    told_.departed.insert(who->first);
    forget(who);
  } else if (goes) {
    of_it.bear_only(clock::now(), farewell);
  } else if (is_new && said.to_all) {
    relay_.send(who->second.at, presence_kind, presence(true));
  }
}

std::optional<incoming> nats_transport::receive() {
  if (arrived_.empty()) {
    hear();
    note_time();
    send_queued();
  }
  if (arrived_.empty()) return {};
  incoming next = std::move(arrived_.front());
  arrived_.pop_front();
  return next;
}

void nats_transport::ring() noexcept {
  rung_ = true;
  relay_.ring();
}

void nats_transport::wait(std::chrono::microseconds at_most) {
  const auto end = clock::now() + std::min<std::chrono::microseconds>(at_most, 1h);
  for (;;) {
    if (rung_.exchange(false)) return;
    hear();
    note_time();
    const bool more = send_queued();
    if (!arrived_.empty() || !told_.found.empty() || !told_.lost.empty()) return;
    const auto now = clock::now();
    if (now >= end) return;
    if (more) continue;
    const auto until =
        std::min({end, relay_.is_up() ? times_.next_presence : end, now + presence_every});
    relay_.wait(std::chrono::ceil<std::chrono::microseconds>(until - now));
  }
}

traffic nats_transport::counted() const noexcept {
  traffic all = counted_;
  all.sleeps = relay_.counted().sleeps;
  all.naps = relay_.counted().naps;
  return all;
}

}  // namespace
}  // namespace cleave::net::nats

extern "C" __attribute__((visibility("default"))) cleave::net::transport* cleave_transport_open(
    unsigned version, const cleave::net::transport_settings& settings,
    cleave::net::open_failure& why) {
  namespace nats = cleave::net::nats;
  return cleave::net::open_plugin(version, why, [&settings] {
    nats::place at = nats::read_place();
    at.workers = settings.workers, at.asked_workers = settings.asked_workers;
    return new nats::nats_transport(nats::read_key(), at);
  });
}
