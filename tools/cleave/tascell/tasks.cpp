#include "tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tascell {
namespace {

bool is_in(const field& f) { return f.where == direction::in || f.where == direction::inout; }
bool is_out(const field& f) { return f.where == direction::out || f.where == direction::inout; }

std::string word(const token& t) { return "'" + std::string(t.text) + "'"; }

// `form` for each field that `wanted` takes, with {f} for its name, and `between` between them.
template <class Wanted>
std::string listed(const task_definition& task, Wanted wanted, fmt::string_view form,
                   const char* between) {
  std::string text;
  for (const field& f : task.fields)
    if (wanted(f)) {
      if (!text.empty()) text += between;
      text += fmt::format(fmt::runtime(form), fmt::arg("f", f.name), fmt::arg("n", task.name));
    }
  return text;
}

}  // namespace

const field* task_definition::find(std::string_view field_name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const field& f) { return f.name == field_name; });
  return found == fields.end() ? nullptr : &*found;
}

std::size_t task_table::define(std::size_t at) {
  const std::size_t name = at + 1, open = at + 2, close = t_.closing(open);
  if (known_.contains(t_[name].text))
    t_.fail(
        name, "a name that no other task has",
        fmt::format("{}, a task since line {}", word(t_[name]), t_[known_[t_[name].text].at].line));
  task_definition task{t_[name].text, {}, name};
  direction where = direction::stays;
  for (std::size_t i = open + 1; i < close;) {
    if (t_[i].is_word() && t_[i + 1].is(":")) {
      if (t_[i].is("in")) where = direction::in;
      else if (t_[i].is("out")) where = direction::out;
      else if (t_[i].is("inout")) where = direction::inout;
      else t_.fail(i, "'in:', 'out:' or 'inout:'");
      e_.erase(i, i + 2);
      i += 2;
    } else {
      i = read_fields(task, where, i, close);
    }
  }
  t_.expect(close + 1, ";", "after the task");
  e_.replace(at, "struct");
  e_.after(close + 1, structs(task));
  auto& kept = known_[task.name] = std::move(task);
  if (first_ == nullptr) first_ = &kept;
  return close + 2;
}

// Reads one declaration of fields, up to its semicolon.
std::size_t task_table::read_fields(task_definition& task, direction where, std::size_t at,
                                    std::size_t last) {
  std::size_t end = at;
  while (end < last && !t_[end].is(";")) {
    const bool opens = t_[end].is("(") || t_[end].is("[") || t_[end].is("{");
    end = opens ? t_.closing(end) + 1 : end + 1;
  }
  if (end >= last) t_.fail(last, "';' after the declaration of a field");
  std::size_t words = 0, angles = 0;
  for (std::size_t i = at; i < end; i++) {
    const token& t = t_[i];
    const std::string travels = "no pointer in a field that travels (fields before 'in:' stay)";
    if (where != direction::stays && (t.is("*") || t.is("&"))) t_.fail(i, travels);
    if (t.what == kind::directive || t.is("=")) t_.fail(i, "the name of a field, or ';'");
    if (t.is(":")) t_.fail(i, "no bit-field");
    if (t.is("task") && t_[i + 1].is_word()) name_type(i);
    if (t.is("<")) angles++;
    if (t.is(">")) angles -= angles > 0;
    words += t.is_word();
    const token& next = t_[i + 1];
    const bool named =
        t.is_word() && words > 1 && angles == 0 && (next.is(",") || next.is(";") || next.is("["));
    if (named) {
      if (task.find(t.text) != nullptr) t_.fail(i, "a name that no other field has");
      if (next.is("[") && t_.closing(i + 1) == i + 2)
        t_.fail(i + 2, "the number of elements of the array");
      task.fields.push_back({t.text, where});
    }
    if (t.is("[")) i = t_.closing(i);
    if (t.is("(")) t_.fail(i, "the name of a field");
  }
  if (task.fields.empty() || words < 2) t_.fail(at, "a declaration, such as 'int n;'");
  return end + 1;
}

// The task has the fields as its base, so that a field may have any name, `run` and `input` too.
std::string task_table::structs(const task_definition& task) const {
  const bool stays = std::any_of(task.fields.begin(), task.fields.end(),
                                 [](const field& f) { return f.where == direction::stays; });
  const std::string n(task.name);
  std::string text = fmt::format(" struct tascell_result_{0} {{ ", n);
  text += listed(task, is_out, "decltype({n}::{f}) {f}; ", "");
  text +=
      fmt::format("auto fields() {{ return std::tie({}); }} ", listed(task, is_out, "{f}", ", "));
  text += fmt::format("void to([[maybe_unused]] struct {}& tascell_to) const {{ {}}} }};", n,
                      listed(task, is_out, "cleave::tascell::copy(tascell_to.{f}, {f}); ", ""));
  text += fmt::format(" void tascell_exec_{0}(struct {0}&);", n);
  text += fmt::format(" struct tascell_task_{0} : {0} {{ ", n);
  if (!stays)
    text += fmt::format("auto input() {{ return std::tie({}); }} ",
                        listed(task, is_in, "{n}::{f}", ", "));
  text += fmt::format(
      "tascell_result_{0} run() {{ tascell_exec_{0}(*this); tascell_result_{0} tascell_r{{}}; "
      "{1}return tascell_r; }} }};",
      n, listed(task, is_out, "cleave::tascell::copy(tascell_r.{f}, {n}::{f}); ", ""));
  return text;
}

void task_table::name_type(std::size_t at) {
  named_by(at + 1);
  e_.replace(at, "struct");
}

task_definition& task_table::named_by(std::size_t at) {
  if (!t_[at].is_word()) t_.fail(at, "the name of a task");
  const auto found = known_.find(t_[at].text);
  if (found == known_.end()) t_.fail(at, "the name of a task that is defined above");
  return found->second;
}

void task_table::check_all_are_executed() const {
  const task_definition* missing = nullptr;
  for (const auto& [name, task] : known_)
    if (task.executed == 0 && (missing == nullptr || task.at < missing->at)) missing = &task;
  if (missing != nullptr)
    t_.fail(missing->at, fmt::format("'task_exec {}' in this file", missing->name), "none");
}

std::string main_of(const task_definition& task) {
  return fmt::format(
      "\nint main(int argc, char** argv) {{ "
      "return cleave::tascell::run_program<tascell_task_{0}>(argc, argv, "
      "[]([[maybe_unused]] auto& tascell_with, [[maybe_unused]] struct {0}& tascell_t) {{ {1}}}, "
      "[]([[maybe_unused]] auto& tascell_with, "
      "[[maybe_unused]] const tascell_result_{0}& tascell_r) {{ {2}}}); }}\n",
      task.name, listed(task, is_in, "tascell_with(\"{f}\", tascell_t.{f}); ", ""),
      listed(task, is_out, "tascell_with(\"{f}\", tascell_r.{f}); ", ""));
}

}  // namespace tascell
