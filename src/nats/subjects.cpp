#include "nats/subjects.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace cleave::net::nats {
namespace {

std::string joined(std::initializer_list<std::string_view> tokens) {
  std::string all;
  for (const std::string_view token : tokens) {
    if (!all.empty()) all += '.';
    all += token;
  }
  return all;
}

/// The tokens of a text, at most `most` of them: the last one keeps the rest.
std::vector<std::string_view> tokens_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> all;
  while (all.size() + 1 < most) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) break;
    all.push_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  all.push_back(text);
  return all;
}

endpoint endpoint_of(const std::vector<std::string_view>& tokens, std::size_t first) {
  return {{std::string(tokens[first]), std::string(tokens[first + 1])},
          std::string(tokens[first + 2])};
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

std::optional<machine> read_machine(std::string_view text) {
  const auto tokens = tokens_of(text, 2);
  if (tokens.size() != 2 || !is_token(tokens[0]) || !is_token(tokens[1])) return std::nullopt;
  return machine{std::string(tokens[0]), std::string(tokens[1])};
}

std::string subject_to(const endpoint& to, const endpoint& from, std::string_view kind) {
  return joined({"cleave.to", to.at.site, to.at.name, to.process, from.at.site, from.at.name,
                 from.process, kind});
}

std::string subject_to_all(const endpoint& from, std::string_view topic) {
  return joined({"cleave.all", from.at.site, from.at.name, from.process, topic});
}

std::string filter_of(const endpoint& self) {
  return joined({"cleave.to", self.at.site, self.at.name, self.process, ">"});
}

std::string filter_of_all(std::string_view topic) { return joined({"cleave.all.*.*.*", topic}); }

std::optional<heading> read_subject(std::string_view subject) {
  constexpr std::size_t of_all = 6, of_direct = 9;
  const auto all = tokens_of(subject, of_all);
  if (all.size() == of_all && all[0] == "cleave" && all[1] == "all" &&
      std::all_of(all.begin() + 2, all.end() - 1, is_token))
    return heading{std::nullopt, endpoint_of(all, 2), std::string(all[5])};
  const auto direct = tokens_of(subject, of_direct);
  if (direct.size() == of_direct && direct[0] == "cleave" && direct[1] == "to" &&
      std::all_of(direct.begin() + 2, direct.end() - 1, is_token))
    return heading{endpoint_of(direct, 2), endpoint_of(direct, 5), std::string(direct[8])};
  return std::nullopt;
}

}  // namespace cleave::net::nats
