#include "relay/log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace relay {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t most_strangers = 10'000;
constexpr int most_keys = 10;  // how many unknown keys of one address are named
constexpr auto again_after = std::chrono::hours(1);

// The text between `before` and the next `after`; the rest if there is no `after`, and nothing if
// there is no `before`.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const auto at = text.find(before);
  if (at == text.npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(after));
}

// Takes the port off an address like "127.0.0.1:53258" or "[::1]:53258".
std::string_view without_port(std::string_view address) {
  return address.substr(0, address.rfind(':'));
}

// The text without what the client says of itself, which the server puts in front: "NAME" - TEXT.
// The client may say anything, also what looks like the server's own words; quotes in it have a
// backslash.
std::string_view after_quoted(std::string_view text) {
  if (!text.starts_with('"')) return text;
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  const auto rest = text.substr(std::min(end + 1, text.size()));
  return rest.starts_with(" - ") ? rest.substr(3) : rest;
}

std::string why_no_tls(std::string_view reason) {
  if (reason.find("does not look like a TLS handshake") != reason.npos) return "it speaks no TLS";
  if (reason.find("unsupported versions") != reason.npos) return "its TLS is too old";
  for (const auto gone : {"EOF"sv, "i/o timeout"sv, "reset by peer"sv, "broken pipe"sv})
    if (reason.find(gone) != reason.npos) return "it began no TLS, or did not end its beginning";
  return "TLS failed: " + std::string(reason);
}

}  // namespace

void log::know(const configuration& c) {
  names_.clear(), revoked_.clear();
  for (const auto& m : c.members) names_[m.public_key] = relay::name_of(c, m);
  for (const auto& m : c.revoked) revoked_[m.public_key] = relay::name_of(c, m);
  names_[c.bridge_key] = "this relay's bridge";
}

std::string log::name_of(const std::string& key) const {
  const auto found = names_.find(key);
  return found != names_.end() ? found->second : key;
}

std::string log::once(const std::string& who, const std::string& why,
                      std::chrono::steady_clock::time_point now, const std::string& more) {
  const std::string key = who + ": " + why;
  auto found = refused_.find(key);
  if (found == refused_.end()) {
    if (refused_.size() >= most_strangers) {
      if (full_) return {};
      full_ = true;
      return "more strangers than are remembered: the next are refused in silence";
    }
    refused_.emplace(key, refusals{now});
    return fmt::format("refused {}{}", key, more);
  }
  auto& r = found->second;
  ++r.times;
  if (now - r.said < again_after) return {};
  std::string say =
      fmt::format("refused {}{} ({} times more since it was said)", key, more, r.times);
  r = {now};
  return say;
}

std::string log::refused(std::string_view address, std::string_view what,
                         std::chrono::steady_clock::time_point now) {
  const std::string from(without_port(address));
  what = after_quoted(what);
  if (const auto reason = between(what, "TLS handshake error: ", "\n"); !reason.empty())
    return once(from, why_no_tls(reason), now);
  const std::string key(between(what, "Nkey \"", "\""));
  if (what.starts_with("authentication error")) {
    if (key.empty()) return once(from, "it has no key", now);
    if (const auto r = revoked_.find(key); r != revoked_.end())
      return once(from, fmt::format("the key of {} is revoked", r->second), now);
    if (names_.count(key) > 0)
      return once(from, fmt::format("it has the name of {}, not its key", name_of(key)), now);
    if (keys_.size() >= most_strangers) keys_.clear();
    const std::string unknown = fmt::format("nobody here has the key {}", key);
    if (refused_.count(from + ": " + unknown) == 0 && ++keys_[from] > most_keys)
      return once(from, "nobody here has the many keys that it tries", now);
    return once(from, unknown, now);
  }
  const bool publishes = what.starts_with("Publish Violation");
  if (publishes || what.starts_with("Subscription Violation")) {
    const auto subject = between(what, "Subject ", ", SID");
    return once(fmt::format("{} ({})", name_of(key), from),
                publishes ? "it speaks for another" : "it listens to what is not for it", now,
                fmt::format(": {}", subject));
  }
  if (what.find("Authentication Timeout") != what.npos) return once(from, "it has no key", now);
  return once(from, std::string(what.substr(0, what.find_first_of(":,"))), now);
}

// [PID] DATE TIME [LEVEL] TEXT, of a client: ADDRESS:PORT - cid:NUMBER - TEXT
log::heard log::read(std::string_view line, std::chrono::steady_clock::time_point now) {
  const auto level = between(line, "] ", " ").empty() ? ""sv : between(line, " [", "]");
  const auto at = line.find("] ", line.find(" ["));
  if (level.size() != 3 || at == line.npos) return {std::string(line)};  // the server has crashed
  const std::string_view text = line.substr(at + 2);
  if (level == "INF") {
    if (text == "Server is ready") return {"", event::ready};
    if (text == "Reloaded server configuration") return {"", event::reloaded};
    if (text.find("Slow Consumer") == text.npos) return {};
  }
  if (level == "DBG" && text.find("closed: Authentication Timeout") == text.npos) return {};
  if (const auto client = text.find(" - cid:"); client != text.npos) {
    std::string_view what = text.substr(client + 7);
    what.remove_prefix(std::min(what.size(), what.find(" - ") + 3));
    return {refused(text.substr(0, client), what, now)};
  }
  const bool failed = text.starts_with("Failed to reload server configuration");
  return {fmt::format("nats-server: {}", text), failed ? event::not_reloaded : event::none};
}

}  // namespace relay
