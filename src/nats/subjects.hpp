#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

/// The names of what is said between machines over NATS. A server of NATS lets a machine publish
/// under its own name only, and a relay under names that begin with its site's. So whoever receives
/// takes the sender from the subject, and from nowhere else.
namespace cleave::net::nats {

/// A machine of a site. The site is a path: the names of the relays from below the topmost one down
/// to its own, with dots between them (the topmost relay's site is its own name). All names are
/// tokens.
struct machine {
  std::string site, name;
  auto operator<=>(const machine&) const = default;
  std::string text() const { return site + "." + name; }
};

/// A process of a machine: `serve-…`, `client-…`, or `<job>-<address in hex>` of a job's node.
struct endpoint {
  machine at;
  std::string process;
  auto operator<=>(const endpoint&) const = default;
  std::string text() const { return at.text() + "." + process; }
};

/// Whether the text is a token: letters, digits, _ and -, at least one and at most 64.
bool is_token(std::string_view text) noexcept;
/// Whether the text names a site: tokens with dots between them, at most 256 letters in all.
bool is_site(std::string_view text) noexcept;
/// The machine that a text "site.name" names; nothing if the text is no such name.
std::optional<machine> read_machine(std::string_view text);

// A subject says to whom and by whom, token by token in turn, so that a pattern of NATS can name
// the beginning of either, however deep both are: that is all that permissions need. `~` stands
// where the shorter one has ended.

/// What is said to `kobe.tokyo.m1.p` by `chiba.m2.q`:
/// `cleave.to.kobe.chiba.tokyo.m2.m1.q.p.~.<kind>`. A kind has one token, or two.
std::string subject_to(const endpoint& to, const endpoint& from, std::string_view kind);
/// What is told to all about `job.7` by `chiba.m2.q`: `cleave.all.job.chiba.7.m2.~.q`. A topic has
/// one token, or two.
std::string subject_to_all(const endpoint& from, std::string_view topic);

/// What one process hears: all that is sent to it, and what anybody tells all about a topic. A
/// topic's last token may be `>`.
std::string filter_of(const endpoint& self);
std::string filter_of_all(std::string_view topic);

/// The pattern of all that is sent to whoever's name begins with `to`, by whoever's name begins
/// with `from`. A beginning is a site (for all that is below it, too) or a machine; "" is anybody.
std::string pattern_to(std::string_view to, std::string_view from);
/// The pattern of all that they tell all.
std::string pattern_to_all(std::string_view from);

/// The beginning of a name by which it differs from all names that begin with `site`; nothing if it
/// does not.
std::optional<std::string> apart_from(std::string_view site, std::string_view name);

/// A subject, read.
struct heading {
  std::optional<endpoint> to;  // nothing: the message is to all
  endpoint from;
  std::string topic;  // the kind, if the message is direct
};
/// Reads a subject; nothing if it is no subject of Cleave's.
std::optional<heading> read_subject(std::string_view subject);

}  // namespace cleave::net::nats
