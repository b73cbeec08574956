#include "nats/subjects.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace cleave::net::nats {
namespace {

using words = std::vector<std::string_view>;
constexpr std::string_view ended = "~", any = "*";

words split(std::string_view text) {
  words all;
  while (!text.empty()) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    all.push_back(text.substr(0, dot));
    if (dot + 1 == text.size()) all.emplace_back();  // it ends with a dot
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return all;
}

std::string joined(std::span<const std::string_view> tokens) {
  std::string all;
  for (const std::string_view token : tokens) {
    if (!all.empty()) all += '.';
    all += token;
  }
  return all;
}

/// `cleave.<verb>`, and the tokens of both in turn; `missing` for those of the shorter one.
std::string in_turn(std::string_view verb, std::string_view to, std::string_view from,
                    std::string_view missing) {
  const words first = split(to), second = split(from);
  words all{"cleave", verb};
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    all.push_back(i < first.size() ? first[i] : missing);
    all.push_back(i < second.size() ? second[i] : missing);
  }
  return joined(all);
}

bool are_tokens(const words& all) { return std::all_of(all.begin(), all.end(), is_token); }

/// Every second token of these, up to where it has ended.
words every_second(std::span<const std::string_view> tokens, std::size_t first) {
  words all;
  for (std::size_t i = first; i < tokens.size(); i += 2) all.push_back(tokens[i]);
  while (!all.empty() && all.back() == ended) all.pop_back();
  return all;
}

std::optional<endpoint> endpoint_of(const words& tokens) {
  if (tokens.size() < 3 || !are_tokens(tokens)) return {};
  const std::span<const std::string_view> all(tokens);
  return endpoint{{joined(all.first(all.size() - 2)), std::string(all[all.size() - 2])},
                  std::string(all.back())};
}

}  // namespace

bool is_token(std::string_view text) noexcept {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

bool is_site(std::string_view text) noexcept {
  constexpr std::size_t longest = 256;  // nats-server takes lines of 4 KiB, with two subjects
  if (text.size() > longest) return false;
  for (std::size_t dot; (dot = text.find('.')) != text.npos; text.remove_prefix(dot + 1))
    if (!is_token(text.substr(0, dot))) return false;
  return is_token(text);
}

std::optional<machine> read_machine(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == text.npos || !is_site(text.substr(0, dot)) || !is_token(text.substr(dot + 1)))
    return std::nullopt;
  return machine{std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

std::string subject_to(const endpoint& to, const endpoint& from, std::string_view kind) {
  return in_turn("to", to.text(), from.text(), ended) + "." + std::string(kind);
}

std::string subject_to_all(const endpoint& from, std::string_view topic) {
  return in_turn("all", topic, from.text(), ended);
}

std::string filter_of(const endpoint& self) { return pattern_to(self.text(), ""); }

std::string filter_of_all(std::string_view topic) {
  const bool more = topic.ends_with(".>");
  if (more) topic.remove_suffix(2);
  return in_turn("all", topic, "", any) + (more ? ".>" : ".~.>");
}

std::string pattern_to(std::string_view to, std::string_view from) {
  return in_turn("to", to, from, any) + ".>";
}

std::string pattern_to_all(std::string_view from) { return in_turn("all", "", from, any) + ".>"; }

std::optional<std::string> apart_from(std::string_view site, std::string_view name) {
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(site.find('.', begin), site.size()),
                      other_end = std::min(name.find('.', begin), name.size());
    if (site.substr(0, end) != name.substr(0, other_end))
      return std::string(name.substr(0, other_end));
    if (end == site.size() || other_end == name.size()) return {};
    begin = end + 1;
  }
}

std::optional<heading> read_subject(std::string_view subject) {
  const words all = split(subject);
  if (all.size() < 2 || all[0] != "cleave") return {};
  const auto rest = std::span(all).subspan(2);
  if (all[1] == "all" && rest.size() % 2 == 0) {
    const words topic = every_second(rest, 0);
    const auto from = endpoint_of(every_second(rest, 1));
    if (topic.empty() || !are_tokens(topic) || !from) return {};
    return heading{std::nullopt, *from, joined(topic)};
  }
  if (all[1] == "to" && rest.size() > 2) {
    const std::size_t of_kind = 2 - rest.size() % 2;
    const auto both = rest.first(rest.size() - of_kind);
    const auto to = endpoint_of(every_second(both, 0)), from = endpoint_of(every_second(both, 1));
    if (to && from) return heading{to, *from, joined(rest.last(of_kind))};
  }
  return {};
}

}  // namespace cleave::net::nats
