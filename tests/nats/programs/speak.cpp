// A client of a relay for the scripts, which says what it is told to, honest or not.
//
//   speak KEYFILE WORDS…   in their order:
//     without-key          connects without the key, with the authority
//     publish SUBJECT TEXT
//     listen FILTER        what comes is printed: SUBJECT TEXT
//     await N              until N different messages have come
//     hold                 until the relay ends the connection: "cut off"
//     talk SUBJECT FILE    numbers, one each millisecond, until there is such a file; then "end N"
//     hear FILTER          until such an end: "heard N of N, 0 twice"
//   speak KEYFILE strangers N SECONDS   N of each kind knock at once: without a key, with one that
//     nobody has, without TLS, silent; again as soon as they are refused, for so long
//
// SPEAK_NAME is what it calls itself. Prints "refused: WHY" with status 3 if it is not let in.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <nats/nats.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/nats/access.hpp"

namespace {

using key = cleave::net::nats::access;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(natsStatus s) {
  if (s != NATS_OK) throw std::runtime_error(natsStatus_GetText(s));
}

struct signer {
  const key& who;
  bool unlucky = false;

  // nats.c 3.4 takes a signature that begins with a zero for none.
  static natsStatus sign(char** error, unsigned char** signature, int* length, const char* nonce,
                         void* self) {
    auto& s = *static_cast<signer*>(self);
    *error = nullptr;
    const natsStatus done = nats_Sign(s.who.seed.c_str(), nonce, signature, length);
    s.unlucky = done == NATS_OK && **signature == 0;
    return s.unlucky ? NATS_ERR : done;
  }
};

void complain(natsConnection* c, natsSubscription*, natsStatus s, void*) {
  const char* text = nullptr;
  natsConnection_GetLastError(c, &text);
  fmt::print("error: {}\n", text != nullptr && *text != '\0' ? text : natsStatus_GetText(s));
  std::fflush(stdout);
}

// After the last complaint.
std::atomic<bool> closed{false};
void on_closed(natsConnection*, void*) { closed = true; }

natsConnection* connect(const key& who, bool with_key, bool quiet = false) {
  natsOptions* o = nullptr;
  check(natsOptions_Create(&o));
  check(natsOptions_SetURL(o, who.urls.front().c_str()));
  if (!who.authority.empty()) {
    check(natsOptions_SetSecure(o, true));
    check(natsOptions_SetCATrustedCertificates(o, who.authority.c_str()));
  }
  signer by{who};
  if (with_key) check(natsOptions_SetNKey(o, who.public_key.c_str(), signer::sign, &by));
  if (const char* const name = std::getenv("SPEAK_NAME")) check(natsOptions_SetName(o, name));
  check(natsOptions_SetAllowReconnect(o, false));
  check(natsOptions_SetTimeout(o, 10'000));
  check(natsOptions_SetSendAsap(o, true));
  if (!quiet) {
    check(natsOptions_SetErrorHandler(o, complain, nullptr));
    check(natsOptions_SetClosedCB(o, on_closed, nullptr));
  }
  natsConnection* c = nullptr;
  natsStatus s;
  do s = natsConnection_Connect(&c, o);
  while (s != NATS_OK && std::exchange(by.unlucky, false));
  std::string why = natsStatus_GetText(s);
  if (const char* const text = nats_GetLastError(nullptr); text != nullptr && *text) why = text;
  natsOptions_Destroy(o);
  if (s != NATS_OK) throw refusal(why);
  return c;
}

struct heard {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> messages;
  bool print = true;
  std::set<long> numbers;
  long end = -1;
  int twice = 0;

  static void on_message(natsConnection*, natsSubscription*, natsMsg* m, void* self) {
    auto& h = *static_cast<heard*>(self);
    const std::string text(natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m)));
    {
      const std::lock_guard lock(h.mutex);
      if (h.print) {
        h.messages.insert(std::string(natsMsg_GetSubject(m)) + " " + text);
        fmt::print("{} {}\n", natsMsg_GetSubject(m), text.substr(0, 60));
        std::fflush(stdout);
      } else if (text.starts_with("end ")) {
        h.end = std::stol(text.substr(4));
      } else {
        h.twice += !h.numbers.insert(std::stol(text)).second;
      }
    }
    natsMsg_Destroy(m);
    h.changed.notify_all();
  }
};

void speak(const key& who, const std::vector<std::string>& words) {
  const bool with_key = words.empty() || words[0] != "without-key";
  natsConnection* const c = connect(who, with_key);
  heard all;
  const auto listen = [&](const std::string& filter) {
    natsSubscription* s = nullptr;
    check(natsConnection_Subscribe(&s, c, filter.c_str(), heard::on_message, &all));
    check(natsConnection_FlushTimeout(c, 10'000));
    fmt::print("listening\n");
    std::fflush(stdout);
  };
  const auto wait = [&](auto done) {
    std::unique_lock lock(all.mutex);
    if (!all.changed.wait_for(lock, 300s, done)) throw std::runtime_error("nothing came");
  };
  for (std::size_t i = with_key ? 0 : 1; i < words.size(); ++i) {
    if (words[i] == "publish") {
      check(natsConnection_PublishString(c, words.at(i + 1).c_str(), words.at(i + 2).c_str()));
      check(natsConnection_FlushTimeout(c, 10'000));
      i += 2;
    } else if (words[i] == "listen") {
      listen(words.at(++i));
    } else if (words[i] == "await") {
      const std::size_t n = std::stoul(words.at(++i));
      wait([&] { return all.messages.size() >= n; });
    } else if (words[i] == "hold") {
      fmt::print("holding\n");
      std::fflush(stdout);
      while (!natsConnection_IsClosed(c)) std::this_thread::sleep_for(10ms);
      fmt::print("cut off\n");
    } else if (words[i] == "talk") {
      const std::string &subject = words.at(i + 1), &file = words.at(i + 2);
      i += 2;
      long n = 0;
      for (; access(file.c_str(), F_OK) != 0; ++n) {
        check(natsConnection_PublishString(c, subject.c_str(), std::to_string(n).c_str()));
        std::this_thread::sleep_for(1ms);
      }
      check(natsConnection_PublishString(c, subject.c_str(), fmt::format("end {}", n).c_str()));
      check(natsConnection_FlushTimeout(c, 10'000));
    } else if (words[i] == "hear") {
      all.print = false;
      listen(words.at(++i));
      wait([&] { return all.end >= 0; });
      fmt::print("heard {} of {}, {} twice\n", all.numbers.size(), all.end, all.twice);
    } else {
      throw std::invalid_argument("unknown word " + words[i]);
    }
  }
  natsConnection_Close(c);
  while (!closed) std::this_thread::sleep_for(1ms);
  natsConnection_Destroy(c);
}

// What is no TLS, or nothing at all.
void knock_raw(const key& who, bool garbage) {
  const auto at = cleave::net::nats::parse_url(who.urls.front());
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET, to.sin_port = htons(static_cast<std::uint16_t>(at.port));
  inet_pton(AF_INET, at.host.c_str(), &to.sin_addr);
  if (connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string noise(3000, '\x5a');
    char any[4096];
    if (garbage) send(s, noise.data(), noise.size(), MSG_NOSIGNAL);
    while (recv(s, any, sizeof any, 0) > 0) {}
  }
  close(s);
}

void strangers(const key& who, int of_each, std::chrono::seconds time) {
  setpriority(PRIO_PROCESS, 0, 19);  // they would be elsewhere
  const auto end = clock::now() + time;
  std::atomic<int> knocks{0}, let_in{0};
  key wrong = who;  // right seed of nobody
  wrong.seed = "SUAHPMLPPQJPNSSN7UWQNPLSZ4TRF4JWNDWGAEAM52V5JNJADRNX2CJUYA";
  wrong.public_key = "UCNW3FRK4GB5E5UUGSOETAGXZ5LT37MNNT3PYJ6ZHC6RLQ6NAEXNSCKL";
  std::vector<std::thread> all;
  for (int i = 0; i < of_each; ++i)
    for (int kind = 0; kind < 4; ++kind)
      all.emplace_back([&, kind] {
        do {
          ++knocks;
          if (kind >= 2) {
            knock_raw(who, kind == 2);
            continue;
          }
          try {
            natsConnection_Destroy(connect(kind == 0 ? who : wrong, kind == 1, true));
            ++let_in;
          } catch (const refusal&) {}
        } while (clock::now() < end);
      });
  for (auto& t : all) t.join();
  fmt::print("{} knocked, {} let in\n", knocks.load(), let_in.load());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 2, argv + argc);
  const key who = cleave::net::nats::read_access(argv[1]);
  if (words.size() == 3 && words[0] == "strangers")
    strangers(who, std::stoi(words[1]), std::chrono::seconds(std::stoi(words[2])));
  else speak(who, words);
  return 0;
} catch (const refusal& e) {
  fmt::print("refused: {}\n", e.what());
  return 3;
} catch (const std::exception& e) {
  fmt::print("failed: {}\n", e.what());
  return 1;
}
