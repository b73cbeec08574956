#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

/// The names of what is said between machines over NATS. A server of NATS lets a machine publish
/// under its own name only, so whoever receives takes the sender from the subject, and from
/// nowhere else.
namespace cleave::net::nats {

/// A machine of a site. Both names are tokens.
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
/// The machine that a text "site.name" names; nothing if the text is no such name.
std::optional<machine> read_machine(std::string_view text);

/// `cleave.to.<site>.<name>.<process>.<from site>.<from name>.<from process>.<kind>`
std::string subject_to(const endpoint& to, const endpoint& from, std::string_view kind);
/// `cleave.all.<from site>.<from name>.<from process>.<topic>`; a topic may have several tokens.
std::string subject_to_all(const endpoint& from, std::string_view topic);

/// What one process hears: all that is sent to it, and what anybody tells all about a topic.
std::string filter_of(const endpoint& self);
std::string filter_of_all(std::string_view topic);

/// A subject, read.
struct heading {
  std::optional<endpoint> to;  // nothing: the message is to all
  endpoint from;
  std::string topic;  // the kind, if the message is direct
};
/// Reads a subject; nothing if it is no subject of Cleave's.
std::optional<heading> read_subject(std::string_view subject);

}  // namespace cleave::net::nats
