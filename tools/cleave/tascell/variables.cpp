#include "variables.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tascell {
namespace {

using words = std::set<std::string_view>;

// The types of C that are numbers, with their sizes on most machines.
const std::map<std::string_view, int> numbers = {
    {"char", 1},     {"short", 2},    {"int", 4},       {"long", 8},     {"float", 4},
    {"double", 8},   {"bool", 1},     {"_Bool", 1},     {"int8_t", 1},   {"uint8_t", 1},
    {"int16_t", 2},  {"uint16_t", 2}, {"int32_t", 4},   {"uint32_t", 4}, {"int64_t", 8},
    {"uint64_t", 8}, {"size_t", 8},   {"ptrdiff_t", 8}, {"intptr_t", 8}, {"uintptr_t", 8}};
const words signs = {"signed", "unsigned"};
const words qualifiers = {"const", "volatile", "register", "constexpr", "restrict"};
// What makes a variable none of this call's, or none that a closure may capture.
const words storage = {"static", "extern", "thread_local", "_Thread_local", "typedef", "using"};
const words tags = {"struct", "union", "enum", "task", "class"};
const words assignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
const words statements = {"return",   "goto",         "if",      "else",   "while",
                          "do",       "for",          "switch",  "case",   "break",
                          "continue", "default",      "handles", "delete", "throw",
                          "do_two",   "dynamic_wind", "new",     "sizeof", "worker"};

using names = std::vector<std::string_view>;

constexpr int not_automatic = -1;  // in the place of a size

bool has(const words& set, const token& t) { return t.is_word() && set.contains(t.text); }
bool assigns(const token& t) {
  return t.what == kind::punctuation && (assignments.contains(t.text) || t.is("++") || t.is("--"));
}

}  // namespace

void variables::begin_function(range body) {
  addressed_.clear();
  for (std::size_t i = body.first; i + 1 < body.last; i++) {
    if (!t_[i].is("&") || !t_[i + 1].is_word()) continue;
    const token& left = t_[i - 1];
    const bool is_binary = (left.is_word() && !left.is("return")) || left.what == kind::number ||
                           left.is(")") || left.is("]");
    if (!is_binary) addressed_.insert(t_[i + 1].text);
  }
}

const variables::variable* variables::find(std::string_view name) const {
  const auto found = std::find_if(known_.rbegin(), known_.rend(),
                                  [&](const variable& v) { return v.name == name; });
  return found == known_.rend() ? nullptr : &*found;
}

// `a::b<c>` counts as one name.
std::size_t variables::skip_name(std::size_t at) const {
  for (;;) {
    at++;
    if (t_[at].is("<")) {
      int depth = 0;
      std::size_t i = at;
      for (; t_[i].what != kind::end && !t_[i].is(";") && !t_[i].is("{"); i++) {
        depth += t_[i].is("<") ? 1 : t_[i].is(">") ? -1 : t_[i].is(">>") ? -2 : 0;
        if (depth <= 0) break;
      }
      if (depth > 0 || !(t_[i].is(">") || t_[i].is(">>"))) return at;
      at = i + 1;
    }
    if (!t_[at].is("::") || !t_[at + 1].is_word()) return at;
    at++;
  }
}

bool variables::declares(std::size_t at) const {
  const token& t = t_[at];
  if (!t.is_word() || statements.contains(t.text)) return false;
  if (numbers.contains(t.text) || has(signs, t) || has(qualifiers, t) || has(storage, t) ||
      has(tags, t) || t.is("auto") || t.is("void") || number_types_.contains(t.text) ||
      other_types_.contains(t.text))
    return true;
  // Any other name is a type where a name follows, `a b` or `a * b`, and what comes after a
  // declarator follows that.
  std::size_t i = skip_name(at);
  while (t_[i].is("*") || t_[i].is("&") || t_[i].is("const")) i++;
  if (!t_[i].is_word() || statements.contains(t_[i].text)) return false;
  const token& next = t_[i + 1];
  return next.is("=") || next.is(";") || next.is(",") || next.is("[") || next.is("(") ||
         next.is("{");
}

std::size_t variables::skip_type(std::size_t at, int& size) const {
  size = 0;
  bool automatic = true, constant = false, named = false;
  for (;; at++) {
    const token& t = t_[at];
    if (has(storage, t)) {
      automatic = false;
    } else if (t.is("const") || t.is("constexpr")) {
      constant = true;  // it needs no capture, and Clang warns of one
    } else if (has(signs, t)) {
      size = std::max(size, 4), named = true;
    } else if (const auto n = numbers.find(t.text); t.is_word() && n != numbers.end()) {
      const bool longer = n->first == "int" && size != 0 && named;  // `long int`, `short int`
      size = longer ? size : n->second;
      named = true;
    } else if (has(tags, t)) {
      if (t_[at + 1].is_word()) at++;
      if (t_[at + 1].is("{")) at = t_.closing(at + 1);
      named = true;
    } else if (t.is("auto") || t.is("void")) {
      named = true;
    } else if (t.is_word() && !named) {
      size = number_types_.contains(t.text) ? 8 : 0;
      at = skip_name(at) - 1;
      named = true;
    } else if (!has(qualifiers, t)) {
      break;
    }
  }
  if (!automatic) size = not_automatic;
  else if (constant) size = 0;
  return at;
}

std::size_t variables::declare_one(std::size_t at, std::size_t last, int size, bool is_parameter) {
  bool pointer = false, other = false;
  for (; at < last && !t_[at].is_word(); at++) {
    pointer |= t_[at].is("*");
    other |= t_[at].is("&") || t_[at].is("&&") || t_[at].is("[");  // a binding, `auto [a, b]`, too
    if (!(t_[at].is("*") || t_[at].is("&") || t_[at].is("&&") || t_[at].is("(") || t_[at].is("[")))
      break;
  }
  for (; at < last && (has(qualifiers, t_[at]) || t_[at].is("*")); at++)  // `int *const p`
    other |= t_[at].is("const");
  variable v;
  if (at < last && t_[at].is_word()) v.name = t_[at].text, at++;
  const bool array = t_[at].is("[");
  if (array && is_parameter) pointer = true;
  const bool by_value =
      size != not_automatic && !other && (!array || is_parameter) && (pointer || size > 0);
  if (by_value) v.size = pointer ? 8 : size;
  if (!v.name.empty()) known_.push_back(v);
  while (at < last && !t_[at].is(",")) {
    const bool opens = t_[at].is("(") || t_[at].is("[") || t_[at].is("{");
    at = opens ? t_.closing(at) + 1 : at + 1;
  }
  return at;
}

void variables::declare(range d) {
  int size = 0;
  std::size_t at = skip_type(d.first, size);
  while (at < d.last) at = declare_one(at, d.last, size, false) + 1;
}

void variables::declare_parameters(range p) {
  for (std::size_t at = p.first; at < p.last;) {
    int size = 0;
    at = skip_type(at, size);
    at = declare_one(at, p.last, size, true) + 1;
  }
}

void variables::add_typedef(range d) {
  int size = 0;
  std::size_t at = skip_type(d.first + 1, size);
  bool number = size > 0;
  for (; at < d.last; at++) {
    if (t_[at].is("*")) number = true;
    if (t_[at].is("(") || t_[at].is("{")) return;
    if (t_[at].is_word()) break;
  }
  if (at >= d.last) return;
  if (number && !t_[at + 1].is("[")) number_types_.insert(t_[at].text);
  else other_types_.insert(t_[at].text);
}

bool variables::is_use(std::size_t at) const {
  return t_[at].is_word() && !t_[at - 1].is(".") && !t_[at - 1].is("->") && !t_[at - 1].is("goto");
}

bool variables::may_change(std::size_t at) const {
  return assigns(t_[at + 1]) || t_[at - 1].is("++") || t_[at - 1].is("--");
}

// The variable of that name, if closures may have copies of it.
const variables::variable* variables::movable(std::string_view name,
                                              const names& parameters) const {
  const variable* v = find(name);
  const bool may = v != nullptr && v->size > 0 && !addressed_.contains(name) &&
                   std::find(parameters.begin(), parameters.end(), name) == parameters.end();
  return may ? v : nullptr;
}

bool variables::uses(range text, std::string_view name) const {
  for (std::size_t i = text.first; i < text.last; i++)
    if (is_use(i) && t_[i].text == name) return true;
  return false;
}

bool variables::assigns_first(range statement, std::string_view name) const {
  std::size_t i = statement.first;
  if (t_[i].is("{")) i++;
  std::size_t end = i;
  while (end < statement.last && !t_[end].is(";")) end++;
  return t_[i].is(name) && t_[i + 1].is("=") && !uses({i + 1, end}, name);
}

names variables::carried(const std::vector<range>& changed_in, const std::vector<range>& unused_in,
                         const names& parameters) const {
  names found;
  for (const range& text : changed_in)
    for (std::size_t i = text.first; i < text.last; i++) {
      const std::string_view name = t_[i].text;
      if (!is_use(i) || !may_change(i) || movable(name, parameters) == nullptr) continue;
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
  std::erase_if(found, [&](std::string_view name) {
    return std::any_of(unused_in.begin(), unused_in.end(),
                       [&](const range& text) { return uses(text, name); });
  });
  return found;
}

std::string variables::captures(range closure, range construct, const names& parameters) const {
  std::vector<const variable*> by_value;
  for (std::size_t i = closure.first; i < closure.last; i++) {
    if (!is_use(i)) continue;
    const variable* v = movable(t_[i].text, parameters);
    if (v == nullptr) continue;
    if (std::find(by_value.begin(), by_value.end(), v) == by_value.end()) by_value.push_back(v);
  }
  for (std::size_t i = construct.first; i < construct.last; i++)
    if (is_use(i) && may_change(i))
      std::erase_if(by_value, [&](const variable* v) { return v->name == t_[i].text; });
  std::string text = "[&";
  // Without gaps: closures of up to 48 bytes stay in registers.
  for (const int size : {8, 4, 2, 1})
    for (const variable* v : by_value)
      if (v->size == size) text.append(", ").append(v->name);
  return text + "]";
}

}  // namespace tascell
