#include <cleave/detail/travel/staying_type.hpp>

#include <string>
#include <string_view>

#include "travel/demangled.hpp"

namespace cleave::detail {
namespace {

/// The function in the name of a call_task, as in `…call_task<&f, long, int>`; nothing if the text
/// is no such name.
std::string_view function_in(std::string_view text) {
  constexpr std::string_view opening = "cleave::detail::call_task<&";
  if (!text.starts_with(opening)) return {};
  text.remove_prefix(opening.size());
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' && open == 0) return text.substr(0, i);
    if (text[i] == '(' || text[i] == '<') ++open;
    if (text[i] == ')' || text[i] == '>') --open;
  }
  return {};
}

}  // namespace

std::string staying_type::name() const {
  std::string all = demangled(work->name());
  const auto function = function_in(all);
  return function.empty() ? all : "call<" + std::string(function) + ">";
}

std::string staying_type::reason() const {
  switch (why) {
    case stays_for::nothing: return "it travels";
    case stays_for::no_archive: return "it was compiled without the headers of cereal";
    case stays_for::closure: return "it is a closure, not a task";
    case stays_for::loop_without_put: return "its loop has no put";
    case stays_for::no_input: return "it has no input()";
    case stays_for::argument:
      return "argument " + std::to_string(argument) + ", " + demangled(part->name()) +
             ", cannot be serialized";
    case stays_for::result:
      return "its result, " + demangled(part->name()) + ", cannot be serialized";
    case stays_for::group: return "it was spawned in a task_group";
  }
  return {};
}

}  // namespace cleave::detail
