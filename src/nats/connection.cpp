#include "nats/connection.hpp"

#include "machine/random.hpp"
#include "machine/without_signals.hpp"
#include "nats/link.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <stdexcept>
#include <utility>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_write = 1s;
constexpr int most_refusals = 25;  // how often in a row a key may be refused
constexpr int quick_tries = 20;    // a relay that is only started again is not missed for long
constexpr auto longest_rest = 2s;  // between the tries after the quick ones
constexpr std::string_view nobody_kind = "nobody";

void say(const std::string& line) { say_if_read("cleave: " + line + "\n"); }

/// Says an error of nats.c, mostly about permissions, once in this process. Called in a thread of
/// nats.c. Errors of a subscription are said by the thread that has subscribed and waits for the
/// relay's answer.
void complain(natsConnection*, natsSubscription*, natsStatus status, void*) {
  if (status == NATS_CONNECTION_CLOSED || status == NATS_STALE_CONNECTION) return;
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>();  // threads of nats.c outlive main()
  const std::string line = std::string("relay: ") + last_words(status);
  if (line.find("Violation for Subscription") != line.npos) return;
  const std::lock_guard lock(mutex);
  if (said->size() < 64 && said->insert(line).second) say(line);
}

}  // namespace

std::string random_token() {
  std::string text = cleave::machine::in_hexadecimal(cleave::machine::random_bits());
  return text.insert(0, 16 - text.size(), '0');
}

// ---- its life

connection::connection(access who, std::string process)
    : connection(std::move(who), std::move(process), settings{}) {}

connection::connection(access who, std::string process, const settings& how)
    : who_(std::move(who)),
      self_{{who_.site, who_.name}, std::move(process)},
      how_(how),
      inbox_(std::make_shared<inbox>()),
      unfinished_(how.most_bytes) {
  check(who_);
  if (!is_token(self_.process))
    throw std::invalid_argument("expected a token as the process, got '" + self_.process + "'");
  subjects_.push_back(filter_of(self_));
  for (int tries = how_.tries;;) {
    try {
      const cleave::machine::without_signals blocked;
      adopt(connect());
      break;
    } catch (const std::exception&) {  // whoever is told to end need not wait for the other tries
      if (--tries <= 0 || (how_.give_up && how_.give_up())) throw;
    }
    std::this_thread::sleep_for(how_.between_tries);
  }
  const cleave::machine::without_signals blocked;
  keeper_ = std::thread([this] { keep(); });
}

connection::~connection() {
  inbox_->close();
  keeper_.join();
}

std::shared_ptr<link> connection::connect() const {
  std::exception_ptr error;
  bool no = false;
  dialling dialled{.name = self_.text(),
                   .answer_within = how_.answer_within,
                   .write_within = longest_write,
                   .on_error = complain};
  for (const std::string& url : who_.urls) {
    try {
      return std::make_shared<link>(dial(who_, url, dialled), url, how_.ping_every);
    } catch (const refused&) {
      error = std::current_exception(), no = true;
    } catch (const std::exception&) {
      if (!no) error = std::current_exception();
    }
  }
  std::rethrow_exception(error);
}

/// Takes a new connection: the relay knows what is listened to before anybody sends over it.
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
  if (made->is_forbidden()) {
    const std::lock_guard lock(mutex_);
    link_.reset();
    throw refused("relay " + made->url() + " does not allow what " + owner_of(who_) +
                  " needs: expected the name and the site of whose key it is");
  }
  ++times_made_;
  up_ = true;
  inbox_->ring();
}

void connection::keep() {
  while (inbox_->wait_for_suspicion(how_.ping_every)) {
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

/// Makes the connection again. False if this object ends, or if the relay does not want this
/// machine any more.
bool connection::make_again() {
  int tries = 0, refusals = 0;
  for (auto rest = how_.between_tries;; ++tries) {
    if (!inbox_->pause(rest)) return false;
    if (tries > quick_tries)
      rest = std::max(rest, std::min<decltype(rest)>(2 * rest, longest_rest));
    try {
      adopt(connect());
      say("relay " + current()->url() + ": back");
      return true;
    } catch (const key_refused& e) {
      // A relay that reads its settings again refuses everybody for a moment.
      if (++refusals < std::clamp(how_.tries, settings{}.tries, most_refusals)) continue;
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

std::shared_ptr<link> connection::current() const {
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
  const std::string subject = subject_to(to, self_, kind);
  // For another site the relay that joins them listens, and says nothing of whoever is there.
  const bool can_tell = ask && to.at.site == self_.at.site;
  const std::string reply = can_tell ? subject_to(self_, to, nobody_kind) : std::string();
  const std::lock_guard lock(sending_);
  const auto by = current();
  if (by == nullptr || by->lost()) return;
  if (content.size() <= by->most_bytes()) return publish(*by, subject, reply, content);
  for (outgoing all; send_part(*by, subject, reply, content, all);) continue;
}

bool connection::needs_parts(std::size_t bytes) const {
  const auto by = current();
  return by != nullptr && bytes > by->most_bytes();
}

bool connection::send_part(const endpoint& to, std::string_view kind,
                           std::span<const std::byte> content, outgoing& so_far) {
  const std::lock_guard lock(sending_);
  const auto by = current();
  return by != nullptr && send_part(*by, subject_to(to, self_, kind), {}, content, so_far);
}

/// Sends a part over the connection over which its message was begun, or not at all.
bool connection::send_part(link& by, const std::string& subject, const std::string& reply,
                           std::span<const std::byte> content, outgoing& so_far) {
  if (so_far.done == 0) so_far.number = ++last_number_, so_far.by = &by;
  if (by.lost() || so_far.by != &by) return false;
  std::vector<std::byte> part;
  const bool first = so_far.done == 0;
  so_far.done = write_part(so_far.number, content, so_far.done, by.most_bytes(), part);
  publish(by, subject + std::string(part_mark), first ? reply : std::string(), part);
  return so_far.done < content.size();
}

void connection::flush() {
  if (const auto by = current()) by->flush(how_.answer_within);
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
  if (!by.publish(subject, reply, content)) inbox_->suspect();
}

void connection::listen(const std::string& topic) { listen_to(filter_of_all(topic)); }

void connection::listen_to(const std::string& subject) {
  const cleave::machine::without_signals blocked;
  std::shared_ptr<link> by;
  {
    const std::lock_guard lock(mutex_);
    subjects_.push_back(subject);
    by = link_;
    if (by != nullptr && !by->subscribe(subjects_.back(), inbox_)) by.reset();
  }
  if (by != nullptr && by->flush(how_.answer_within) && by->is_forbidden())
    say("relay " + by->url() + ": " + by->why());
}

// ---- receiving

std::optional<letter> connection::receive() {
  while (auto next = inbox_->take()) {
    if (next->from == self_) continue;
    if (next->to_all || next->nobody || !next->topic.ends_with(part_mark)) return next;
    auto whole = unfinished_.take(next->from, next->content, assembler::clock::now());
    if (!whole) {
      next->content.clear(), next->unfinished = true;
      return next;
    }
    next->content = std::move(*whole);
    next->topic.resize(next->topic.size() - part_mark.size());
    return next;
  }
  return {};
}

void connection::wait(std::chrono::microseconds at_most) {
  const auto how = inbox_->wait(at_most);
  counted_.sleeps += how != inbox::woken::not_asleep;
  counted_.naps += how == inbox::woken::by_time;
}

void connection::ring() noexcept { inbox_->ring(); }

}  // namespace cleave::net::nats
