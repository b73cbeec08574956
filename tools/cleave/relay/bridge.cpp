#include "relay/bridge.hpp"

#include <fmt/format.h>
#include <nats/nats.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace relay {
namespace {

using cleave::net::nats::access;
using cleave::net::nats::is_token;

constexpr auto first_pause = std::chrono::milliseconds(500),
               longest_pause = std::chrono::milliseconds(5000);
constexpr std::size_t most_sites = 10'000;
constexpr int most_pending = 512 << 20;  // bytes that the slower side has not taken yet

struct connection_freed {
  void operator()(natsConnection* c) const { natsConnection_Close(c), natsConnection_Destroy(c); }
};
struct options_freed {
  void operator()(natsOptions* o) const { natsOptions_Destroy(o); }
};
struct subscription_freed {
  void operator()(natsSubscription* s) const { natsSubscription_Destroy(s); }
};
using connection = std::unique_ptr<natsConnection, connection_freed>;
using options = std::unique_ptr<natsOptions, options_freed>;
using subscription = std::unique_ptr<natsSubscription, subscription_freed>;

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct refusal : failure {
  using failure::failure;
};

// What nats.c says of the last error in this thread, without where in its source.
std::string last_words(natsStatus s) {
  natsStatus of = NATS_OK;
  const char* const text = nats_GetLastError(&of);
  if (text == nullptr || *text == '\0' || of != s) return natsStatus_GetText(s);
  const std::string_view all(text);
  const auto end = all.starts_with('(') ? all.find("): ") : all.npos;
  return std::string(end == all.npos ? all : all.substr(end + 3));
}

void check(natsStatus s, const std::string& what) {
  if (s == NATS_CONNECTION_AUTH_FAILED)
    throw refusal(what + ": it refuses this relay's key (is it revoked?)");
  if (s != NATS_OK) throw failure(fmt::format("{}: {}", what, last_words(s)));
}

struct signer {
  const access& who;
  bool unlucky = false;

  // nats.c 3.4 takes a signature that begins with a zero for none: then it is tried again with
  // another nonce.
  static natsStatus sign(char** error, unsigned char** signature, int* length, const char* nonce,
                         void* self) noexcept {
    auto& s = *static_cast<signer*>(self);
    *error = nullptr;
    const natsStatus done = nats_Sign(s.who.seed.c_str(), nonce, signature, length);
    s.unlucky = done == NATS_OK && **signature == 0;
    if (!s.unlucky) return done;
    std::free(*signature);
    *signature = nullptr;
    return NATS_ERR;
  }
};

// The site of whoever has sent it; empty if it is no subject of Cleave's.
std::string sender_of(std::string_view subject) {
  std::vector<std::string_view> tokens;
  while (tokens.size() < 6) {
    const auto dot = std::min(subject.find('.'), subject.size());
    tokens.push_back(subject.substr(0, dot));
    subject.remove_prefix(std::min(dot + 1, subject.size()));
  }
  const bool direct = tokens[1] == "to";
  const std::string_view site = tokens[direct ? 5 : 2];
  return is_token(site) ? std::string(site) : std::string();
}

// What threads of nats.c touch: they may come late, so it is never freed.
struct events {
  std::function<void(const std::string&)> say;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  bool ending = false;
  std::set<std::string> said;

  void say_once(const std::string& line) {
    {
      const std::lock_guard lock(mutex);
      if (said.size() > 100 || !said.insert(line).second) return;
    }
    say(line);
  }

  static void on_closed(natsConnection*, void* self) {
    auto& e = *static_cast<events*>(self);
    const std::lock_guard lock(e.mutex);
    e.changed.notify_all();
  }
  static void on_error(natsConnection* c, natsSubscription*, natsStatus s, void* self) {
    const char* text = nullptr;
    natsConnection_GetLastError(c, &text);
    const bool more = text != nullptr && *text != '\0';
    static_cast<events*>(self)->say_once(
        fmt::format("bridge: {}", more ? text : natsStatus_GetText(s)));
  }
};

class nats_bridge : public bridge {
public:
  nats_bridge(access upstream, access own, std::function<void(const std::string&)> say)
      : upstream_(std::move(upstream)), own_(std::move(own)), events_(*new events) {
    events_.say = std::move(say);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { keep(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~nats_bridge() override {
    {
      const std::lock_guard lock(events_.mutex);
      events_.ending = true;
    }
    events_.changed.notify_all();
    thread_.join();
  }
  nats_bridge(const nats_bridge&) = delete;
  nats_bridge& operator=(const nats_bridge&) = delete;

private:
  // Both connections live and end together; between two lives whatever is said is lost, which
  // nodes expect.
  struct life {
    nats_bridge& of;
    connection up, down;
    std::mutex mutex;  // of what follows
    std::condition_variable ended;
    int running = 0;  // threads of nats.c that may look at this
    std::set<std::string> sites;
    std::vector<subscription> subscriptions;

    explicit life(nats_bridge& b) : of(b) {}
    ~life() {
      natsConnection_Close(up.get()), natsConnection_Close(down.get());
      std::unique_lock lock(mutex);
      ended.wait(lock, [this] { return running == 0; });
    }
    life(const life&) = delete;
    life& operator=(const life&) = delete;

    bool is_whole() const {
      return !natsConnection_IsClosed(up.get()) && !natsConnection_IsClosed(down.get());
    }
  };
  // One subscription, for nats.c.
  struct hook {
    life& of;
    void (*then)(life&, natsMsg*);
    std::atomic<bool> armed{false};

    hook(life& l, void (*f)(life&, natsMsg*)) : of(l), then(f) {}
    static void on_message(natsConnection*, natsSubscription*, natsMsg* m, void* self) {
      auto& h = *static_cast<hook*>(self);
      if (h.armed) h.then(h.of, m);
      natsMsg_Destroy(m);
    }
    static void on_end(void* self) {
      life& l = static_cast<hook*>(self)->of;
      delete static_cast<hook*>(self);
      const std::lock_guard lock(l.mutex);
      --l.running;
      l.ended.notify_all();
    }
  };

  connection connect(const access& to, const std::string& what) {
    natsOptions* made = nullptr;
    check(natsOptions_Create(&made), what);
    const options o(made);
    std::vector<const char*> urls;
    for (const auto& u : to.urls) urls.push_back(u.c_str());
    signer who{to};
    check(natsOptions_SetServers(made, urls.data(), static_cast<int>(urls.size())), what);
    check(natsOptions_SetNoRandomize(made, true), what);
    check(natsOptions_SetName(made, fmt::format("{}.{}", to.site, to.name).c_str()), what);
    check(natsOptions_SetNKey(made, to.public_key.c_str(), signer::sign, &who), what);
    if (!to.authority.empty()) {
      check(natsOptions_SetSecure(made, true), what);
      check(natsOptions_SetCATrustedCertificates(made, to.authority.c_str()), what);
    }
    check(natsOptions_SetIgnoreDiscoveredServers(made, true), what);
    check(natsOptions_SetTimeout(made, 2000), what);
    check(natsOptions_SetWriteDeadline(made, 2000), what);
    check(natsOptions_SetPingInterval(made, 1000), what);
    check(natsOptions_SetMaxPingsOut(made, 2), what);
    check(natsOptions_SetSendAsap(made, true), what);
    check(natsOptions_SetNoEcho(made, true), what);
    check(natsOptions_SetAllowReconnect(made, false), what);
    check(natsOptions_SetClosedCB(made, events::on_closed, &events_), what);
    check(natsOptions_SetErrorHandler(made, events::on_error, &events_), what);
    natsConnection* c = nullptr;
    natsStatus done;
    do done = natsConnection_Connect(&c, made);
    while (done != NATS_OK && std::exchange(who.unlucky, false));
    check(done, what);
    return connection(c);
  }

  void listen(life& l, natsConnection* at, const std::string& filter,
              void (*then)(life&, natsMsg*)) {
    auto own = std::make_unique<hook>(l, then);
    natsSubscription* s = nullptr;
    check(natsConnection_Subscribe(&s, at, filter.c_str(), hook::on_message, own.get()), filter);
    hook* const h = own.release();
    const std::lock_guard lock(l.mutex);
    l.subscriptions.emplace_back(s);
    // If it has ended already nobody says when its thread has: that hook stays for ever, unarmed.
    check(natsSubscription_SetOnCompleteCB(s, hook::on_end, h), filter);
    ++l.running;
    h->armed = true;
    natsSubscription_SetPendingLimits(s, -1, most_pending);
  }

  // From others to this site.
  static void pass_down(life& l, natsMsg* m) {
    const char* const subject = natsMsg_GetSubject(m);
    const std::string sender = sender_of(subject);
    if (sender.empty() || sender == l.of.own_.site) return;
    l.of.meet(l, sender);
    natsConnection_Publish(l.down.get(), subject, natsMsg_GetData(m), natsMsg_GetDataLength(m));
  }
  // From this site to others.
  static void pass_up(life& l, natsMsg* m) {
    natsConnection_Publish(l.up.get(), natsMsg_GetSubject(m), natsMsg_GetData(m),
                           natsMsg_GetDataLength(m));
  }

  // What is said to a site goes upwards once the site has been heard: before that nobody knows of
  // anybody there. What is said within this site does not come by.
  void meet(life& l, const std::string& site) {
    {
      const std::lock_guard lock(l.mutex);
      if (l.sites.size() >= most_sites || !l.sites.insert(site).second) return;
    }
    try {
      listen(l, l.down.get(), fmt::format("cleave.to.{}.*.*.{}.>", site, own_.site), pass_up);
    } catch (const failure& e) { events_.say_once(fmt::format("bridge: {}", e.what())); }
  }

  // What goes wrong is said once, until it is joined again.
  void keep() {
    bool said = false, said_refused = false;
    auto pause = first_pause;
    const auto once = [this](bool& flag, const std::string& line) {
      if (!std::exchange(flag, true)) events_.say(line + "; trying again");
    };
    for (;;) {
      try {
        live();
        said = said_refused = false, pause = first_pause;
        const std::lock_guard lock(events_.mutex);
        if (events_.ending) return;
        once(said, "the relay above is lost; this site works on by itself");
      } catch (const refusal& e) { once(said_refused, e.what()); } catch (const failure& e) {
        once(said, e.what());
      }
      std::unique_lock lock(events_.mutex);
      if (events_.changed.wait_for(lock, pause, [&] { return events_.ending; })) return;
      pause = std::min(2 * pause, longest_pause);
    }
  }

  // Until one of the connections ends.
  void live() {
    life l(*this);
    l.up = connect(upstream_, fmt::format("the relay above, {}", upstream_.urls.front()));
    l.down = connect(own_, "this relay's own server");
    listen(l, l.down.get(), fmt::format("cleave.all.{}.>", own_.site), pass_up);
    listen(l, l.up.get(), fmt::format("cleave.to.{}.>", own_.site), pass_down);
    listen(l, l.up.get(), "cleave.all.>", pass_down);
    check(natsConnection_FlushTimeout(l.up.get(), 2000), "the relay above");
    char url[256];
    const bool known = natsConnection_GetConnectedUrl(l.up.get(), url, sizeof url) == NATS_OK;
    events_.say(fmt::format("joined {}", known ? url : upstream_.urls.front()));
    std::unique_lock lock(events_.mutex);
    events_.changed.wait(lock, [&] { return events_.ending || !l.is_whole(); });
  }

  const access upstream_, own_;
  events& events_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<bridge> make_bridge(access upstream, access own,
                                    std::function<void(const std::string&)> say) {
  return std::make_unique<nats_bridge>(std::move(upstream), std::move(own), std::move(say));
}

}  // namespace relay
