// What a relay's nats-server lets each key say, as cleave relay writes it down.
#include "relay/folder.hpp"

#include "nats/matches.hpp"
#include "nats/subjects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace relay {
namespace {

using namespace cleave::net::nats;

/// The permissions of the user with that key.
class user {
public:
  user(const configuration& c, const std::string& key) {
    const std::string all = server_configuration(c);
    const auto line = all.find("nkey: " + key + ",");
    const auto read = [&](const std::string& what) {
      const auto begin = all.find(what, line) + what.size();
      const auto end = all.find('}', begin) + 1;
      return nlohmann::json::parse(all.substr(begin, end - begin));
    };
    publish_ = read("publish: "), subscribe_ = read("subscribe: ");
  }
  bool may_say(const std::string& subject) const { return may(publish_, subject); }
  bool may_hear(const std::string& subject) const { return may(subscribe_, subject); }

private:
  static bool may(const nlohmann::json& rule, const std::string& subject) {
    const auto any = [&](const char* of) {
      const auto patterns = rule.value(of, nlohmann::json::array());
      if (patterns.is_string()) return true;  // ">"
      return std::any_of(patterns.begin(), patterns.end(),
                         [&](const std::string& p) { return cleave::tests::matches(p, subject); });
    };
    return any("allow") && !any("deny");
  }
  nlohmann::json publish_, subscribe_;
};

endpoint at(const std::string& name) { return {*read_machine(name), "p"}; }
std::string letter(const std::string& from, const std::string& to) {
  return subject_to(at(to), at(from), "m");
}
std::string news(const std::string& from) { return subject_to_all(at(from), "job.7"); }

const std::vector<std::string> machines = {
    "chiba.m1",        "kobe.m1",        "kobe.m2",  "kobe.tokyo.m1",  "kobe.nara.m1", "osaka.m1",
    "kobe.tokyo.a.m1", "osaka.tokyo.m1", "tokyo.m1", "kobe.tokyos.m1", "kobes.m1"};

void speaks_and_hears(const configuration& c, const std::string& key, const std::string& begin) {
  const user who(c, key);
  for (const auto& from : machines) {
    const bool own = from.starts_with(begin);
    EXPECT_EQ(who.may_say(news(from)), own) << from;
    EXPECT_TRUE(who.may_hear(news(from)));
    for (const auto& to : machines) {
      EXPECT_EQ(who.may_say(letter(from, to)), own) << letter(from, to);
      EXPECT_EQ(who.may_hear(letter(from, to)), to.starts_with(begin)) << letter(from, to);
    }
  }
}

configuration of(const std::string& site, bool upstream) {
  configuration c;
  c.site = site, c.upstream = upstream, c.listen = "127.0.0.1", c.bridge_key = "UB";
  c.members = {{"m1", false, "UM"}, {"tokyo", true, "UT"}, {"kobe", true, "UK"}};
  return c;
}

TEST(permissions, of_the_topmost_relay) {
  const configuration c = of("chiba", false);
  speaks_and_hears(c, "UM", "chiba.m1");
  speaks_and_hears(c, "UK", "kobe.");
  speaks_and_hears(c, "UT", "tokyo.");
  EXPECT_EQ(name_of(c, c.members[1]), "the relay of tokyo");
  const user bridge(c, "UB");
  EXPECT_FALSE(bridge.may_say(news("osaka.m1")) || bridge.may_hear(news("chiba.m1")));
}

TEST(permissions, of_a_relay_below_another) {
  const configuration c = of("kobe", true);
  speaks_and_hears(c, "UM", "kobe.m1");
  speaks_and_hears(c, "UT", "kobe.tokyo.");
  EXPECT_EQ(name_of(c, c.members[1]), "the relay of kobe.tokyo");
}

/// Its own server lets a bridge bring in what others say, and take out what is said here.
TEST(permissions, of_a_bridge) {
  for (const std::string site : {"kobe", "kobe.tokyo"}) {
    const user bridge(of(site, true), "UB");
    const auto within = [&](const std::string& name) { return name.starts_with(site + "."); };
    for (const auto& from : machines) {
      EXPECT_EQ(bridge.may_say(news(from)), !within(from)) << from;
      EXPECT_EQ(bridge.may_hear(news(from)), within(from)) << from;
      for (const auto& to : machines) {
        EXPECT_EQ(bridge.may_say(letter(from, to)), within(to) && !within(from));
        EXPECT_EQ(bridge.may_hear(letter(from, to)), within(from));
      }
    }
  }
}

}  // namespace
}  // namespace relay
