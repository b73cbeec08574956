#include "nats/access.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

using namespace cleave;
using net::nats::access;

access plain() { return {"chiba", "m1", {"nats://127.0.0.1:4222"}, {}, {}, {}}; }
access secure() {
  return {"chiba",
          "m1",
          {"tls://relay.example:4222"},
          "-----BEGIN CERTIFICATE-----\n",
          // Of nobody, made for tests.
          "UARWHZGYFCOL6CVSZUCRUTNCB42CFFZUURGFSLWLSS3LDLZZJYVJYJOC",
          "SUAAMLM7AVV4BSNQT7JUEJ2BC7ARUDN3WZEMKNN3UAJVNV2RZUCOEJTWXE"};
}

std::string refusal(const std::function<void()>& of) {
  try {
    of();
  } catch (const std::invalid_argument& e) { return e.what(); }
  return "nothing was wrong";
}

TEST(access, is_read_as_it_was_written) {
  const tests::temporary_folder folder;
  for (const access& a : {plain(), secure()}) {
    const auto file = folder.path / (a.authority.empty() ? "plain" : "secure");
    net::nats::write_access(file, a);
    struct stat about {};
    ASSERT_EQ(stat(file.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    const access b = net::nats::read_access(file);
    EXPECT_EQ(std::tie(a.site, a.name, a.urls, a.authority, a.public_key, a.seed),
              std::tie(b.site, b.name, b.urls, b.authority, b.public_key, b.seed));
    EXPECT_EQ(refusal([&] { net::nats::write_access(file, a); }),
              file.string() + ": cannot be written: File exists");
  }
}

TEST(access, of_a_site_below_others) {
  access a = plain();
  a.site = "kobe.tokyo";
  EXPECT_EQ(refusal([&] { check(a); }), "nothing was wrong");
  for (const char* bad : {"kobe.", ".kobe", "kobe..tokyo", "kobe.*"}) {
    a.site = bad;
    EXPECT_NE(refusal([&] { check(a); }), "nothing was wrong") << bad;
  }
}

TEST(access, of_a_relay_is_no_machines) {
  const tests::temporary_folder folder;
  const std::string file = (folder.path / "kobe.cleave").string();
  access a = plain();
  a.name = net::nats::relay_name;
  net::nats::write_access(file, a);
  EXPECT_EQ(net::nats::read_access(file).name, "relay");
  const std::string line =
      file + ": expected a machine's key (cleave invite NAME), got that of the relay of chiba";
  EXPECT_EQ(refusal([&] { net::nats::read_machines_access(file); }), line);
  EXPECT_EQ(refusal([&] { net::nats::find_access(file); }), line);
}

TEST(access, of_a_file_that_is_no_key_file) {
  const tests::temporary_folder folder;
  const auto of = [&](const std::string& text, unsigned mode = 0600) {
    const std::string file = (folder.path / "key").string();
    std::ofstream(file) << text;
    chmod(file.c_str(), mode);
    const std::string line = refusal([&] { net::nats::read_access(file); });
    return line.starts_with(file + ": ") ? line.substr(file.size() + 2) : line;
  };
  EXPECT_EQ(of(""), "expected a key file of Cleave");
  EXPECT_EQ(of("{"), "expected a key file of Cleave");
  EXPECT_EQ(of("[1]"), "expected a key file of Cleave");
  EXPECT_EQ(of(R"({"cleave": 2})"), "expected a key file of version 1");
  EXPECT_EQ(of(R"({"cleave": 1})"), "expected a text \"site\"");
  EXPECT_EQ(of(R"({"cleave": 1, "site": 3})"), "expected a text \"site\"");
  EXPECT_EQ(of(R"({"cleave": 1, "site": "a", "name": "b"})"), "expected a list \"urls\"");
  EXPECT_EQ(of(R"({"cleave": 1, "site": "a", "name": "b", "urls": []})"),
            "expected the relay's URL, got none");
  EXPECT_EQ(of(R"({"cleave": 1, "site": "a b", "name": "b", "urls": []})"),
            "expected letters, digits, _ and -, at most 64, as the site, got 'a b'");
  const std::string good =
      R"({"cleave": 1, "site": "a", "name": "b", "urls": ["nats://127.0.0.1:4222"]})";
  EXPECT_EQ(of(good), "nothing was wrong");
  EXPECT_EQ(of(good, 0640), "expected a key that its owner alone may read (chmod 600)");
  const std::string missing = (folder.path / "missing").string();
  EXPECT_EQ(refusal([&] { net::nats::read_access(missing); }),
            missing + ": expected a key file: No such file or directory");
}

/// Any one letter.
TEST(access, with_an_altered_key_is_refused) {
  constexpr auto altered = ": its checksum is wrong, so a letter of it was altered";
  const access right = secure();
  for (std::size_t i = 2; i < right.seed.size(); ++i) {
    access a = right;
    a.seed[i] = a.seed[i] == 'B' ? 'C' : 'B';
    EXPECT_EQ(refusal([&] { check(a); }), std::string("expected a seed, SU…") + altered) << i;
    if (i >= right.public_key.size()) continue;
    a = right;
    a.public_key[i] = a.public_key[i] == 'B' ? 'C' : 'B';
    EXPECT_EQ(refusal([&] { check(a); }), std::string("expected a public key, U…") + altered) << i;
  }
}

TEST(access, is_plain_on_loopback_only) {
  access a = plain();
  a.urls = {"nats://relay.example:4222"};
  EXPECT_EQ(refusal([&] { check(a); }),
            "expected tls:// except on loopback, got 'nats://relay.example:4222'");
  a.urls = {"nats://127.0.0.1.example:4222"};
  EXPECT_NE(refusal([&] { check(a); }), "nothing was wrong");
  a.urls = {"nats://[::1]:4222"};
  EXPECT_EQ(refusal([&] { check(a); }), "nothing was wrong");
  a = secure();
  a.seed.clear();
  EXPECT_EQ(refusal([&] { check(a); }), "expected a seed, SU…");
  a = secure();
  a.authority.clear();
  EXPECT_EQ(refusal([&] { check(a); }),
            "expected the certificate of who vouches for tls://relay.example:4222");
  for (const char* url : {"", "relay", "http://a:1", "tls://", "tls://a:0", "tls://a:65536",
                          "tls://a:b", "tls://u:p@a:1", "tls://a b:1", "tls://a:1:2"}) {
    a = secure();
    a.urls = {url};
    EXPECT_EQ(refusal([&] { check(a); }),
              std::string("expected tls://HOST:PORT or nats://HOST:PORT, got '") + url + "'");
  }
}

TEST(access, of_a_url_is_found) {
  const tests::temporary_folder folder;
  std::filesystem::create_directory(folder.path / "cleave");
  net::nats::write_access(folder.path / "cleave" / "a.cleave", plain());
  net::nats::write_access(folder.path / "cleave" / "b.cleave", secure());
  setenv("XDG_CONFIG_HOME", folder.path.c_str(), 1);
  unsetenv("CLEAVE_KEY");
  EXPECT_EQ(net::nats::find_access("tls://relay.example:4222").authority, secure().authority);
  EXPECT_TRUE(net::nats::find_access("nats://127.0.0.1:4222").authority.empty());
  EXPECT_EQ(refusal([] { net::nats::find_access("tls://other:4222"); }),
            "tls://other:4222: expected its key file in $CLEAVE_KEY or in " +
                (folder.path / "cleave").string() + "/*.cleave");
  setenv("CLEAVE_KEY", (folder.path / "cleave" / "a.cleave").c_str(), 1);
  EXPECT_EQ(net::nats::find_access("nats://localhost:1").urls.front(), "nats://localhost:1");
  EXPECT_EQ(refusal([] { net::nats::find_access("tls://other:4222"); }),
            "tls://other:4222: expected the certificate of who vouches for tls://other:4222");
  EXPECT_EQ(net::nats::find_access((folder.path / "cleave" / "b.cleave").string()).name, "m1");
}

}  // namespace
