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
//   speak KEYFILE mute     is no client, but listens as a relay that says nothing any more once it
//                          has asked for TLS: "mute at PORT"; for ever
//
// SPEAK_NAME is what it calls itself. Prints "refused: WHY" with status 3 if it is not let in.
#include <fmt/format.h>
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
#include <vector>

#include "nats/access.hpp"
#include "nats/dial.hpp"
#include "nats/impostor.hpp"

namespace {

using key = cleave::net::nats::access;
using cleave::net::nats::dial;
using cleave::net::nats::dialling;
using cleave::net::nats::nats_connection;
using namespace std::chrono_literals;

struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(natsStatus s) {
  if (s != NATS_OK) throw std::runtime_error(natsStatus_GetText(s));
}

void complain(natsConnection* c, natsSubscription*, natsStatus s, void*) {
  const char* text = nullptr;
  natsConnection_GetLastError(c, &text);
  fmt::print("error: {}\n", text != nullptr && *text != '\0' ? text : natsStatus_GetText(s));
  std::fflush(stdout);
}

// After the last complaint.
std::atomic<bool> closed{false};
void on_closed(natsConnection*, void*) { closed = true; }

// Blocks until it is there.
nats_connection connect(key who, bool with_key) {
  if (!with_key) who.public_key.clear(), who.seed.clear();
  dialling how;
  if (const char* const name = std::getenv("SPEAK_NAME")) how.name = name;
  how.answer_within = 10s;
  how.on_error = complain, how.on_closed = on_closed;
  try {
    return dial(who, who.urls.front(), how);
  } catch (const std::runtime_error& e) { throw refusal(e.what()); }
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
  const nats_connection made = connect(who, with_key);
  natsConnection* const c = made.get();
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
}

[[noreturn]] void be_mute() {
  using cleave::tests::impostor;
  const impostor mute([](impostor::caller& who, int) {
    who.say(impostor::greeting(",\"tls_required\":true,\"nonce\":\"any\""));
    who.until_gone();
  });
  fmt::print("mute at {}\n", mute.port());
  std::fflush(stdout);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 2, argv + argc);
  const key who = cleave::net::nats::read_access(argv[1]);
  if (!words.empty() && words[0] == "mute") be_mute();
  speak(who, words);
  return 0;
} catch (const refusal& e) {
  fmt::print("refused: {}\n", e.what());
  return 3;
} catch (const std::exception& e) {
  fmt::print("failed: {}\n", e.what());
  return 1;
}
