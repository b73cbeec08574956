#include "net/nats/connection.hpp"

#include <nats/nats.h>
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <new>
#include <random>
#include <set>
#include <utility>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_write = 1s;
constexpr int quick_tries = 20;    // a relay that is only started again is not missed for long
constexpr auto longest_rest = 2s;  // between tries after those
constexpr auto longest_gap = 30s;  // between parts of a message
constexpr std::size_t longest_part = std::size_t{256} << 10;    // what follows does not wait long
constexpr std::size_t part_header = 3 * sizeof(std::uint64_t);  // number, bytes in all, offset
constexpr std::string_view part_mark = ".part";
constexpr std::string_view nobody_kind = "nobody";
constexpr std::size_t most_waiting = std::size_t{1} << 30;  // bytes that nobody has received

void say(const std::string& line) { std::fprintf(stderr, "cleave: %s\n", line.c_str()); }

/// While it lives this thread gets no signals, nor do threads that it begins.
class without_signals {
public:
  without_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

private:
  sigset_t before_{};
};

/// What nats.c says of the last thing that failed in this thread, on one line.
std::string reason(natsStatus status) {
  natsStatus of = NATS_OK;
  const char* const last = nats_GetLastError(&of);
  std::string text = natsStatus_GetText(status);
  if (of == status && last != nullptr && *last != '\0') text = last;
  if (text.starts_with('('))
    text.erase(0, text.find("): ") == text.npos ? 0 : text.find("): ") + 3);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

bool is_refusal(natsStatus status) noexcept {
  return status == NATS_CONNECTION_AUTH_FAILED || status == NATS_SSL_ERROR ||
         status == NATS_SECURE_CONNECTION_WANTED || status == NATS_SECURE_CONNECTION_REQUIRED ||
         status == NATS_NOT_PERMITTED;
}

/// Permissions, mostly: each once in this process. Called in a thread of nats.c.
void complain(natsConnection*, natsSubscription*, natsStatus status, void*) {
  if (status == NATS_CONNECTION_CLOSED || status == NATS_STALE_CONNECTION) return;
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>();  // threads of nats.c outlive main()
  const std::string line = std::string("relay: ") + reason(status);
  const std::lock_guard lock(mutex);
  if (said->size() < 64 && said->insert(line).second) say(line);
}

struct signer {
  const access& who;
  bool unlucky = false;  ///< a signature could not be used: another one will do
};

/// nats.c 3.4 takes a signature that begins with a zero for an empty one.
natsStatus sign(char** error, unsigned char** signature, int* length, const char* nonce,
                void* by) noexcept {
  *error = nullptr;
  auto& of = *static_cast<signer*>(by);
  const natsStatus s = nats_Sign(of.who.seed.c_str(), nonce, signature, length);
  if (s != NATS_OK || **signature != 0) return s;
  std::free(*signature);
  *signature = nullptr;
  of.unlucky = true;
  return NATS_ERR;
}

void put(std::byte* to, std::uint64_t n) noexcept {
  for (std::size_t i = 0; i < sizeof n; ++i) to[i] = static_cast<std::byte>(n >> (8 * i));
}
std::uint64_t get(const std::byte* from) noexcept {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < sizeof n; ++i)
    n |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return n;
}

}  // namespace

std::string random_token() {
  std::random_device device;
  const std::uint64_t n = std::uint64_t{device()} << 32 | device();
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
  return text;
}

// ---- what nats.c's threads touch

struct connection::inbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<letter> letters;
  std::size_t bytes = 0;
  bool rung = false, overflown = false;
  std::condition_variable for_keeper;
  bool suspect = false;  // the connection may be lost
  bool closing = false;

  void put(letter one) {
    {
      const std::lock_guard lock(mutex);
      if (bytes + one.content.size() > most_waiting) {
        if (!std::exchange(overflown, true)) say("relay: more arrives than is read: some is lost");
        return;
      }
      bytes += one.content.size();
      letters.push_back(std::move(one));
    }
    arrived.notify_one();
  }
  void ring() noexcept {
    {
      const std::lock_guard lock(mutex);
      rung = true;
    }
    arrived.notify_one();
  }
  void look_at_connection() noexcept {
    {
      const std::lock_guard lock(mutex);
      suspect = true;
    }
    for_keeper.notify_one();
  }
};

/// One connection of nats.c, from when it is made until it is lost.
class connection::link {
public:
  link(natsConnection* made, std::string url) : nats_(made), url_(std::move(url)) {}
  ~link() {
    natsConnection_Close(nats_);
    for (natsSubscription* s : subscriptions_) natsSubscription_Destroy(s);
    natsConnection_Destroy(nats_);
  }
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  const std::string& url() const noexcept { return url_; }
  bool lost() const noexcept { return broken_ || natsConnection_IsClosed(nats_); }
  std::string why() const {
    const char* text = nullptr;
    const natsStatus s = natsConnection_GetLastError(nats_, &text);
    if (s == NATS_OK || s == NATS_CONNECTION_CLOSED || text == nullptr || *text == '\0')
      return "it closed the connection";
    return text;
  }
  std::size_t most_bytes() const noexcept {
    const auto most = std::max<std::int64_t>(natsConnection_GetMaxPayload(nats_), 0);
    return std::clamp(static_cast<std::size_t>(most), 2 * part_header, longest_part);
  }
  bool flush(std::chrono::milliseconds at_most) noexcept {
    return natsConnection_FlushTimeout(nats_, at_most.count()) == NATS_OK;
  }
  /// Part of it may be sent when this fails: then the connection is of no use any more.
  bool publish(const std::string& subject, const std::string& reply,
               std::span<const std::byte> content) noexcept {
    const auto size = static_cast<int>(content.size());
    const natsStatus s = reply.empty()
                             ? natsConnection_Publish(nats_, subject.c_str(), content.data(), size)
                             : natsConnection_PublishRequest(nats_, subject.c_str(), reply.c_str(),
                                                             content.data(), size);
    if (s != NATS_OK) broken_ = true;
    return s == NATS_OK;
  }
  bool subscribe(const std::string& subject, const std::shared_ptr<inbox>& to) {
    // Owned by nats.c's thread that delivers: it ends when the connection is lost.
    auto closure = std::make_unique<std::shared_ptr<inbox>>(to);
    natsSubscription* made = nullptr;
    if (natsConnection_Subscribe(&made, nats_, subject.c_str(), arrived, closure.get()) != NATS_OK)
      return false;
    subscriptions_.push_back(made);
    natsSubscription_SetPendingLimits(made, -1, -1);  // the inbox has its own
    const natsStatus s = natsSubscription_SetOnCompleteCB(made, ended, closure.get());
    static_cast<void>(closure.release());  // if it is lost by now, the thread may still use it
    return s == NATS_OK;
  }

private:
  static void arrived(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    if (message == nullptr) return;
    if (auto said = read_subject(natsMsg_GetSubject(message))) {
      const auto* const content = reinterpret_cast<const std::byte*>(natsMsg_GetData(message));
      letter one{std::move(said->from),
                 !said->to,
                 std::move(said->topic),
                 natsMsg_IsNoResponders(message),
                 {}};
      one.content.assign(content, content + natsMsg_GetDataLength(message));
      (*static_cast<std::shared_ptr<inbox>*>(closure))->put(std::move(one));
    }
    natsMsg_Destroy(message);
  }
  static void ended(void* closure) {
    const std::unique_ptr<std::shared_ptr<inbox>> to(static_cast<std::shared_ptr<inbox>*>(closure));
    (*to)->look_at_connection();
  }

  natsConnection* const nats_;
  const std::string url_;
  std::vector<natsSubscription*> subscriptions_;
  std::atomic<bool> broken_{false};
};

// ---- its life

connection::connection(access who, std::string process)
    : connection(std::move(who), std::move(process), settings{}) {}

connection::connection(access who, std::string process, const settings& how)
    : who_(std::move(who)),
      self_{{who_.site, who_.name}, std::move(process)},
      how_(how),
      inbox_(std::make_shared<inbox>()) {
  check(who_);
  if (!is_token(self_.process))
    throw std::invalid_argument("expected a token as the process, got '" + self_.process + "'");
  subjects_.push_back(filter_of(self_));
  const without_signals here;
  for (int tries = how_.tries;;) {
    try {
      adopt(connect());
      break;
    } catch (const std::exception&) {
      if (--tries <= 0) throw;
    }
    std::this_thread::sleep_for(how_.between_tries);
  }
  keeper_ = std::thread([this] { keep(); });
}

connection::~connection() {
  {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->closing = true;
  }
  inbox_->for_keeper.notify_one();
  keeper_.join();
}

std::shared_ptr<connection::link> connection::connect() const {
  std::exception_ptr error;
  bool no = false;
  for (const std::string& url : who_.urls) {
    try {
      return connect_to(url);
    } catch (const refused&) {
      error = std::current_exception(), no = true;
    } catch (const std::exception&) {
      if (!no) error = std::current_exception();
    }
  }
  std::rethrow_exception(error);
}

std::shared_ptr<connection::link> connection::connect_to(const std::string& url) const {
  const relay_url at = parse_url(url);
  natsOptions* made = nullptr;
  if (natsOptions_Create(&made) != NATS_OK) throw std::bad_alloc();
  const std::unique_ptr<natsOptions, void (*)(natsOptions*)> options(made, natsOptions_Destroy);
  natsStatus s = NATS_OK;
  const auto set = [&](natsStatus done) {
    if (s == NATS_OK) s = done;
  };
  set(natsOptions_SetURL(made, url.c_str()));
  set(natsOptions_SetName(made, self_.text().c_str()));
  set(natsOptions_SetTimeout(made, how_.answer_within.count()));
  set(natsOptions_SetWriteDeadline(made, std::chrono::milliseconds(longest_write).count()));
  set(natsOptions_SetSendAsap(made, true));
  set(natsOptions_SetNoEcho(made, true));
  set(natsOptions_SetIgnoreDiscoveredServers(made, true));
  set(natsOptions_SetAllowReconnect(made, false));  // the keeper does it
  set(natsOptions_SetPingInterval(made, how_.ping_every.count()));
  set(natsOptions_SetMaxPingsOut(made, 2));
  set(natsOptions_SetErrorHandler(made, complain, nullptr));
  if (at.tls) {
    set(natsOptions_SetSecure(made, true));
    set(natsOptions_SetCATrustedCertificates(made, who_.authority.c_str()));
    set(natsOptions_SetExpectedHostname(made, at.host.c_str()));
  }
  signer by{who_};
  if (!who_.seed.empty()) set(natsOptions_SetNKey(made, who_.public_key.c_str(), sign, &by));
  natsConnection* opened = nullptr;
  const bool ready = s == NATS_OK;
  do {
    by.unlucky = false;
    if (ready) s = natsConnection_Connect(&opened, made);
  } while (s != NATS_OK && by.unlucky);
  if (s == NATS_OK) return std::make_shared<link>(opened, url);
  if (is_refusal(s))
    throw refused("relay " + url + " refuses " + self_.at.text() + ": " + reason(s));
  throw unreachable("relay " + url + ": " + reason(s));
}

/// What is listened to is known to the relay before anybody sends by it.
void connection::adopt(std::shared_ptr<link> made) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& subject : subjects_)
      if (!made->subscribe(subject, inbox_)) throw unreachable("relay " + made->url() + ": lost");
    link_ = made;
  }
  if (!made->flush(how_.answer_within)) {
    const std::lock_guard lock(mutex_);
    link_.reset();
    throw unreachable("relay " + made->url() + ": " + made->why());
  }
  ++times_made_;
  up_ = true;
  inbox_->ring();
}

void connection::keep() {
  for (;;) {
    {
      std::unique_lock lock(inbox_->mutex);
      inbox_->for_keeper.wait(lock, [this] { return inbox_->suspect || inbox_->closing; });
      inbox_->suspect = false;
      if (inbox_->closing) return;
    }
    auto before = current();
    if (!before->lost()) continue;
    up_ = false;
    {
      const std::lock_guard lock(mutex_);
      link_.reset();
    }
    say("relay " + before->url() + ": lost (" + before->why() + "); trying again");
    before.reset();
    inbox_->ring();
    if (!make_again()) return;
  }
}

/// False if this object ends, or if the relay does not want this machine any more.
bool connection::make_again() {
  int tries = 0, refusals = 0;
  for (auto rest = how_.between_tries;; ++tries) {
    if (!pause(rest)) return false;
    if (tries > quick_tries)
      rest = std::max(rest, std::min<decltype(rest)>(2 * rest, longest_rest));
    try {
      adopt(connect());
      say("relay " + current()->url() + ": back");
      return true;
    } catch (const refused& e) {
      if (++refusals < how_.tries) continue;
      say(e.what());
      {
        const std::lock_guard lock(mutex_);
        refusal_ = e.what();
      }
      inbox_->ring();
      return false;
    } catch (const std::exception&) { refusals = 0; }
  }
}

/// False if this object ends.
bool connection::pause(std::chrono::milliseconds at_most) const {
  std::unique_lock lock(inbox_->mutex);
  return !inbox_->for_keeper.wait_for(lock, at_most, [this] { return inbox_->closing; });
}

std::shared_ptr<connection::link> connection::current() const {
  const std::lock_guard lock(mutex_);
  return link_;
}

std::optional<std::string> connection::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

// ---- sending

void connection::send(const endpoint& to, std::string_view kind, std::span<const std::byte> content,
                      bool ask) {
  std::string subject = subject_to(to, self_, kind);
  const std::string reply = ask ? subject_to(self_, to, nobody_kind) : std::string();
  const std::lock_guard lock(sending_);
  const auto by = current();
  if (by == nullptr || by->lost()) return;
  const std::size_t most = by->most_bytes();
  if (content.size() <= most) return publish(*by, subject, reply, content);
  subject += part_mark;
  const std::uint64_t number = ++last_number_;
  std::vector<std::byte> part;
  for (std::size_t done = 0; done < content.size();) {
    const std::size_t size = std::min(content.size() - done, most - part_header);
    part.resize(part_header);
    put(part.data(), number);
    put(part.data() + 8, content.size());
    put(part.data() + 16, done);
    const auto next = content.subspan(done, size);
    part.insert(part.end(), next.begin(), next.end());
    if (by->lost()) return;
    publish(*by, subject, done == 0 ? reply : std::string(), part);
    done += size;
  }
}

void connection::tell_all(const std::string& topic, std::string_view content) {
  if (content.size() > most_to_all())
    throw std::invalid_argument("a message to all: expected at most " +
                                std::to_string(most_to_all()) + " bytes");
  const std::lock_guard lock(sending_);
  const auto by = current();
  if (by == nullptr || by->lost()) return;
  publish(*by, subject_to_all(self_, topic), {}, std::as_bytes(std::span(content)));
}

void connection::publish(link& by, const std::string& subject, const std::string& reply,
                         std::span<const std::byte> content) {
  if (!by.publish(subject, reply, content)) inbox_->look_at_connection();
}

void connection::listen(const std::string& topic) { listen_to(filter_of_all(topic)); }

void connection::listen_to(const std::string& subject) {
  const without_signals here;
  std::shared_ptr<link> by;
  {
    const std::lock_guard lock(mutex_);
    subjects_.push_back(subject);
    by = link_;
    if (by != nullptr && !by->subscribe(subjects_.back(), inbox_)) by.reset();
  }
  if (by != nullptr) by->flush(how_.answer_within);
}

// ---- receiving

std::optional<letter> connection::receive() {
  for (;;) {
    letter next;
    {
      const std::lock_guard lock(inbox_->mutex);
      if (inbox_->letters.empty()) return {};
      next = std::move(inbox_->letters.front());
      inbox_->letters.pop_front();
      inbox_->bytes -= next.content.size();
    }
    if (next.from == self_) continue;
    if (next.to_all || next.nobody || !next.topic.ends_with(part_mark)) return next;
    if (auto all = whole(std::move(next))) return all;
  }
}

/// The message, if this was its last part. Parts come one after the other: one that does not follow
/// means that others are lost, and the message with them.
std::optional<letter> connection::whole(letter part) {
  const std::span<const std::byte> content(part.content);
  if (content.size() <= part_header) return {};
  const std::uint64_t number = get(content.data()), bytes = get(content.data() + 8),
                      offset = get(content.data() + 16);
  const auto now = std::chrono::steady_clock::now();
  if (offset == 0) {
    std::erase_if(unfinished_, [&](const auto& of) { return now - of.second.since > longest_gap; });
    unfinished_[part.from] = {number, bytes, {}, now};
  }
  const auto at = unfinished_.find(part.from);
  if (at == unfinished_.end()) return {};
  parts& so_far = at->second;
  const auto body = content.subspan(part_header);
  const bool follows = so_far.number == number && so_far.bytes == bytes &&
                       so_far.content.size() == offset && bytes <= how_.most_bytes &&
                       body.size() <= bytes - offset;
  if (!follows) {
    unfinished_.erase(at);
    return {};
  }
  so_far.content.insert(so_far.content.end(), body.begin(), body.end());
  so_far.since = now;
  if (so_far.content.size() < bytes) return {};
  part.content = std::move(so_far.content);
  part.topic.resize(part.topic.size() - part_mark.size());
  unfinished_.erase(at);
  return part;
}

void connection::wait(std::chrono::microseconds at_most) {
  std::unique_lock lock(inbox_->mutex);
  const auto ready = [this] { return inbox_->rung || !inbox_->letters.empty(); };
  if (!ready()) {
    ++counted_.sleeps;
    if (!inbox_->arrived.wait_for(lock, std::min<std::chrono::microseconds>(at_most, 1h), ready))
      ++counted_.naps;
  }
  inbox_->rung = false;
}

void connection::ring() noexcept { inbox_->ring(); }

}  // namespace cleave::net::nats
