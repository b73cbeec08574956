// labels: slow
#include "nats/connection.hpp"
#include "nats/dial.hpp"
#include "nats/impostor.hpp"
#include "nats/relay.hpp"

#include <gtest/gtest.h>
#include <nats/nats.h>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace cleave;
using namespace std::chrono_literals;
using net::nats::connection;
using net::nats::letter;
using clock_type = std::chrono::steady_clock;

class messages : public testing::Test {
protected:
  void SetUp() override {
    if (!tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
  }
};

/// Machines are busy: nothing here is a matter of time.
constexpr auto long_enough = 60s;

std::optional<letter> next(connection& c) {
  const auto end = clock_type::now() + long_enough;
  while (clock_type::now() < end) {
    if (auto one = c.receive(); one && !one->unfinished) return one;
    c.wait(1s);
  }
  return {};
}

bool until(const std::function<bool()>& holds) {
  const auto end = clock_type::now() + long_enough;
  while (!holds()) {
    if (clock_type::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

std::string text(const letter& l) {
  return {reinterpret_cast<const char*>(l.content.data()), l.content.size()};
}

TEST_F(messages, arrive_in_order_and_say_from_whom) {
  tests::relay by;
  connection a(by.machine("m1"), "one"), b(by.machine("m2", "there"), "two");
  for (int i = 0; i < 1000; ++i) a.send(b.self(), "count", std::to_string(i));
  for (int i = 0; i < 1000; ++i) {
    const auto got = next(b);
    ASSERT_TRUE(got);
    ASSERT_EQ(text(*got), std::to_string(i));
    EXPECT_EQ(got->from, a.self());
    EXPECT_EQ(got->topic, "count");
    EXPECT_FALSE(got->to_all);
  }
  EXPECT_FALSE(a.receive());
}

TEST_F(messages, to_all_reach_who_listens) {
  tests::relay by;
  connection a(by.machine("m1"), "one"), b(by.machine("m2"), "two"), c(by.machine("m3"), "three");
  a.listen("job.7"), b.listen("job.7"), c.listen("job.>");
  a.tell_all("job.7", "here");
  for (connection* to : {&b, &c}) {
    const auto got = next(*to);
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->to_all);
    EXPECT_EQ(got->topic, "job.7");
    EXPECT_EQ(text(*got), "here");
  }
  a.tell_all("job.8", "there");
  EXPECT_EQ(next(c)->topic, "job.8");
  a.send(b.self(), "end", "");
  EXPECT_EQ(next(b)->topic, "end");
  EXPECT_FALSE(a.receive());
  EXPECT_THROW(a.tell_all("job.7", std::string(connection::most_to_all() + 1, 'x')),
               std::invalid_argument);
}

TEST_F(messages, that_are_longer_than_the_relay_takes) {
  tests::relay by("max_payload: 70000");
  connection a(by.machine("m1"), "one"), b(by.machine("m2"), "two"), c(by.machine("m3"), "three");
  std::string large(3'000'000, ' ');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i % 251);
  a.send(b.self(), "first", large);
  c.send(b.self(), "other", large);
  a.send(b.self(), "second", "short");
  std::vector<std::string> from_a;
  for (int i = 0; i < 3; ++i) {
    const auto got = next(b);
    ASSERT_TRUE(got);
    if (got->from == a.self()) from_a.push_back(got->topic);
    EXPECT_EQ(text(*got), got->topic == "second" ? "short" : large);
  }
  EXPECT_EQ(from_a, (std::vector<std::string>{"first", "second"}));
}

TEST_F(messages, tell_of_their_parts) {
  tests::relay by("max_payload: 70000");
  connection a(by.machine("m1"), "one"), b(by.machine("m2"), "two");
  const std::string large(300'000, ' ');  // five parts
  a.send(b.self(), "first", large);
  int parts = 0;
  std::optional<letter> got;
  ASSERT_TRUE(until([&] {
    for (got = b.receive(); got && got->unfinished; got = b.receive()) {
      ++parts;
      EXPECT_EQ(got->from, a.self());
      EXPECT_TRUE(got->content.empty());
    }
    return got.has_value();
  }));
  EXPECT_EQ(text(*got), large);
  EXPECT_EQ(parts, 4);
}

// Interest behind the relay that joins two sites is that relay's.
TEST_F(messages, to_another_site_are_not_said_to_have_no_reader) {
  tests::relay by;
  connection a(by.machine("m1"), "one");
  const cleave::net::nats::endpoint far = {{"elsewhere", "m2"}, "two"},
                                    gone = {{a.self().at.site, "m2"}, "two"};
  a.send(far, "first", "", true);
  a.send(gone, "second", "", true);
  const auto answer = next(a);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->nobody);
  EXPECT_EQ(answer->from, gone);
}

/// As after a loss, or from somebody who wants to do harm.
TEST_F(messages, of_which_parts_are_missing_are_dropped) {
  tests::relay by;
  connection::settings small;
  small.most_bytes = 1000;
  connection a(by.machine("m1"), "one"), b(by.machine("m2"), "two", small);
  const auto part = [&](unsigned number, unsigned bytes, unsigned offset, const std::string& body) {
    std::string content;
    for (const unsigned n : {number, bytes, offset})
      for (int i = 0; i < 8; ++i) content += static_cast<char>(i < 4 ? n >> (8 * i) & 0xff : 0);
    a.send(b.self(), "long.part", content + body);
  };
  part(1, 9, 0, "abc"), part(1, 9, 6, "ghi"), part(1, 9, 3, "def");    // one is missing
  part(2, 6, 0, "abc"), part(3, 6, 3, "def");                          // of another one
  part(4, 4, 0, "abc"), part(4, 4, 3, "def");                          // more than it was to be
  part(5, 2000, 0, "abc");                                             // more than is taken
  part(6, 6, 3, "def");                                                // no beginning
  part(7, 6, 0, "abc"), part(7, 7, 3, "def");                          // it was to be shorter
  a.send(b.self(), "long.part", "too short"), part(8, 3, 0, "");       // nothing in it
  part(9, 6, 0, "old"), part(10, 6, 0, "abc"), part(10, 6, 3, "def");  // begun again
  const auto got = next(b);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->topic, "long");
  EXPECT_EQ(text(*got), "abcdef");
  EXPECT_FALSE(b.receive());
}

TEST_F(messages, go_on_when_the_relay_is_back) {
  tests::relay by;
  connection a(by.machine("m1"), "one"), b(by.machine("m2"), "two");
  b.listen("news");
  by.stop();
  ASSERT_TRUE(until([&] { return !a.is_up() && !b.is_up(); }));
  a.send(b.self(), "lost", "");
  by.start();
  ASSERT_TRUE(until([&] { return a.is_up() && b.is_up(); }));
  EXPECT_EQ(a.times_made(), 2u);
  a.send(b.self(), "found", "");
  EXPECT_EQ(next(b)->topic, "found");
  a.tell_all("news", "");
  EXPECT_EQ(next(b)->topic, "news");
}

TEST_F(messages, of_a_relay_that_is_stopped_count_as_lost) {
  tests::relay by;
  connection::settings quick;
  quick.ping_every = 50ms;
  connection a(by.machine("m1"), "one", quick);
  by.stop(SIGSTOP);
  EXPECT_TRUE(until([&] { return !a.is_up(); }));
  by.stop(SIGCONT);
  EXPECT_TRUE(until([&] { return a.is_up(); }));
}

TEST_F(messages, to_nobody_are_answered_so_if_that_is_asked) {
  tests::relay by;
  connection a(by.machine("m1"), "one");
  net::nats::endpoint there;
  {
    connection b(by.machine("m2"), "two");
    there = b.self();
    a.send(there, "first", "", true);
    EXPECT_EQ(next(b)->topic, "first");
  }
  a.send(there, "second", "");
  // The relay may not know yet that it is gone.
  std::optional<letter> answer;
  EXPECT_TRUE(until([&] {
    a.send(there, "third", std::string(600'000, ' '), true);
    return (answer = a.receive()).has_value();
  }));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->nobody);
  EXPECT_EQ(answer->from, there);
}

TEST_F(messages, a_ring_ends_a_wait) {
  tests::relay by;
  connection a(by.machine("m1"), "one");
  const auto start = clock_type::now();
  std::thread other([&] { a.ring(); });
  a.wait(long_enough);
  EXPECT_LT(clock_type::now() - start, long_enough);
  other.join();
}

TEST_F(messages, nobody_is_there) {
  net::nats::access nobody{"here", "m1", {"nats://127.0.0.1:1"}, {}, {}, {}};
  connection::settings quick;
  quick.tries = 2, quick.between_tries = 10ms;
  EXPECT_THROW(connection(nobody, "one", quick), net::nats::unreachable);
}

// Keys of nobody, made for this test.
const std::string first_public = "UARWHZGYFCOL6CVSZUCRUTNCB42CFFZUURGFSLWLSS3LDLZZJYVJYJOC",
                  first_seed = "SUAAMLM7AVV4BSNQT7JUEJ2BC7ARUDN3WZEMKNN3UAJVNV2RZUCOEJTWXE",
                  second_public = "UD7GD7WZ6PUV2FZGJJGPJIQZ7EPDZP74P3KHB345VAI7RI5BUTSHA2NO",
                  second_seed = "SUAFIF7MAMP55OTEHVIC25OI6JOJ6DKEHOMGB72MY5SEXJNPHATPWQUQOQ";

/// As of `cleave relay`.
std::string user(const std::string& key, const std::string& machine) {
  using namespace net::nats;
  return "{ nkey: " + key + ", permissions: { publish: [\"" + pattern_to("", machine) + "\", \"" +
         pattern_to_all(machine) + "\"], subscribe: [\"" + pattern_to(machine, "") + "\", \"" +
         pattern_to_all("") + "\"] } }";
}

TEST_F(messages, are_for_those_with_a_key) {
  tests::relay by("authorization: { users: [ " + user(first_public, "here.m1") + " ] }");
  net::nats::access first = by.machine("m1"), second = by.machine("m2");
  connection::settings quick;
  quick.tries = 2, quick.between_tries = 10ms;
  EXPECT_THROW(connection(second, "two", quick), net::nats::refused);  // no key
  second.public_key = second_public, second.seed = second_seed;
  EXPECT_THROW(connection(second, "two", quick), net::nats::refused);  // not known
  first.public_key = first_public, first.seed = second_seed;
  EXPECT_THROW(connection(first, "two", quick), net::nats::refused);  // not the seed of this key
  first.seed = first_seed;
  EXPECT_TRUE(connection(first, "one", quick).is_up());
  first.name = "m9", first.file = "altered.cleave";  // not what this key is for
  try {
    const connection made(first, "one", quick);
    ADD_FAILURE() << "connected";
  } catch (const net::nats::refused& e) {
    EXPECT_EQ(e.what(), "relay " + first.urls.front() +
                            " does not allow what here.m9 (altered.cleave) needs: expected the "
                            "name and the site of whose key it is");
  }
}

TEST_F(messages, of_a_forged_sender_are_refused_by_the_relay) {
  tests::relay by("authorization: { users: [ " + user(first_public, "here.m1") + ", " +
                  user(second_public, "here.m2") + " ] }");
  net::nats::access first = by.machine("m1"), second = by.machine("m2"), forger = second;
  first.public_key = first_public, first.seed = first_seed;
  second.public_key = forger.public_key = second_public;
  second.seed = forger.seed = second_seed;
  connection a(first, "one"), c(second, "three");
  a.listen("news");
  // Of its own making, without what a connection of Cleave would refuse itself.
  const auto b = net::nats::dial(forger, forger.urls.front(), {});
  const net::nats::endpoint other{{"here", "m3"}, "two"};
  for (const std::string& subject :
       {subject_to(a.self(), other, "forged"), subject_to_all(other, "news")})
    EXPECT_EQ(natsConnection_Publish(b.get(), subject.c_str(), "", 0), NATS_OK);
  EXPECT_EQ(natsConnection_Flush(b.get()), NATS_OK);
  c.send(a.self(), "right", "");
  EXPECT_EQ(next(a)->topic, "right");
  EXPECT_FALSE(a.receive());
}

TEST_F(messages, of_a_key_that_is_taken_back_end) {
  const auto users = [](const std::string& all) {
    return "authorization: { users: [ " + all + " ] }";
  };
  tests::relay by(users(user(first_public, "here.m1") + ", " + user(second_public, "here.m2")));
  net::nats::access first = by.machine("m1"), second = by.machine("m2");
  first.public_key = first_public, first.seed = first_seed;
  second.public_key = second_public, second.seed = second_seed;
  connection::settings quick;
  quick.tries = 3, quick.between_tries = 50ms;
  connection a(first, "one", quick), b(second, "two", quick);
  by.change(users(user(first_public, "here.m1")));
  EXPECT_TRUE(until([&] { return b.refusal().has_value(); }));
  EXPECT_FALSE(b.is_up());
  EXPECT_FALSE(a.refusal());
  EXPECT_TRUE(until([&] { return a.is_up(); }));
}

/// Of itself, made in the folder as NAME and NAME.key.
std::string certificate(const tests::temporary_folder& folder, const std::string& name,
                        const std::string& of) {
  const std::string at = (folder.path / name).string();
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-keyout " +
      at + ".key -out " + at + " -subj /CN=relay -addext subjectAltName=" + of + " 2>/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c)
  std::ostringstream text;
  text << std::ifstream(at).rdbuf();
  return text.str();
}

TEST_F(messages, go_by_tls_to_the_relay_that_the_key_names) {
  const tests::temporary_folder folder;
  const std::string right = certificate(folder, "right", "IP:127.0.0.1"),
                    other = certificate(folder, "other", "IP:127.0.0.1"),
                    wrong = certificate(folder, "wrong", "DNS:other");
  const auto relay_with = [&](const std::string& name) {
    const std::string at = (folder.path / name).string();
    return "tls: { cert_file: \"" + at + "\", key_file: \"" + at + ".key\" }\n" +
           "authorization: { users: [ " + user(first_public, "here.m1") + " ] }";
  };
  const auto machine = [&](const tests::relay& by, const std::string& authority) {
    net::nats::access a = by.machine("m1");
    a.urls = {"tls://127.0.0.1:" + std::to_string(by.port())};
    a.authority = authority, a.public_key = first_public, a.seed = first_seed;
    return a;
  };
  connection::settings quick;
  quick.tries = 2, quick.between_tries = 10ms;
  {
    tests::relay by(relay_with("right"));
    EXPECT_TRUE(connection(machine(by, right), "one", quick).is_up());
    EXPECT_THROW(connection(machine(by, wrong), "one", quick), net::nats::refused);
    // Whom the system trusts is not trusted for that.
    setenv("SSL_CERT_FILE", (folder.path / "right").c_str(), 1);
    EXPECT_THROW(connection(machine(by, other), "one", quick), net::nats::refused);
    unsetenv("SSL_CERT_FILE");
    net::nats::access plain = by.machine("m1");
    plain.public_key = first_public, plain.seed = first_seed;
    EXPECT_THROW(connection(plain, "one", quick), net::nats::refused);
  }
  tests::relay another(relay_with("wrong"));  // vouched for, but not as this host
  EXPECT_THROW(connection(machine(another, wrong), "one", quick), net::nats::refused);
  tests::relay without;
  EXPECT_THROW(connection(machine(without, right), "one", quick), net::nats::refused);
}

/// nats.c waits there for ever.
TEST_F(messages, to_a_relay_that_falls_silent_in_TLS_are_given_up) {
  const tests::temporary_folder folder;
  tests::impostor mute([](tests::impostor::caller& who, int) {
    who.say(tests::impostor::greeting(",\"tls_required\":true"));
    who.until_gone();
  });
  const std::string url = "tls://127.0.0.1:" + std::to_string(mute.port());
  net::nats::access a{"here", "m1", {url}, certificate(folder, "a", "IP:127.0.0.1"), {}, {}};
  a.public_key = first_public, a.seed = first_seed;
  connection::settings quick;
  quick.tries = 2, quick.between_tries = 10ms, quick.answer_within = 2s;
  try {
    const connection made(a, "one", quick);
    FAIL() << "connected";
  } catch (const net::nats::unreachable& e) {
    EXPECT_EQ(e.what(), "relay " + url + ": it does not answer in the middle of TLS");
  }
}

TEST_F(messages, are_signed_again_where_nats_c_loses_a_signature) {
  /// One whose signature begins with a zero, or does not.
  const auto nonce = [](bool zero) {
    for (int i = 0;; ++i) {
      const std::string text = "nonce" + std::to_string(i);
      unsigned char* signature = nullptr;
      int length = 0;
      EXPECT_EQ(nats_Sign(first_seed.c_str(), text.c_str(), &signature, &length), NATS_OK);
      const bool found = (*signature == 0) == zero;
      std::free(signature);
      if (found) return text;
    }
  };
  ASSERT_EQ(nats_Open(-1), NATS_OK);  // nats_Sign() does not do it
  // Looked for before anybody waits for them: some hundred signatures.
  const std::string zero = nonce(true), other = nonce(false);
  std::vector<std::string> heard;
  net::nats::access a{"here", "m1", {}, {}, first_public, first_seed};
  {
    tests::impostor relay([&](tests::impostor::caller& who, int count) {
      who.say(tests::impostor::greeting(",\"nonce\":\"" + (count == 0 ? zero : other) + "\""));
      for (std::string line; !(line = who.line()).empty();) {
        if (line.starts_with("CONNECT")) heard.push_back(line);
        if (line == "PING") who.say("PONG\r\n");
      }
    });
    a.urls = {"nats://127.0.0.1:" + std::to_string(relay.port())};
    connection::settings once;
    once.tries = 1;
    EXPECT_TRUE(connection(a, "one", once).is_up());
  }
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_NE(heard.front().find("\"sig\":\""), std::string::npos) << heard.front();
  EXPECT_EQ(heard.front().find("\"sig\":\"\""), std::string::npos) << heard.front();
}

}  // namespace
