#include "translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "bodies.hpp"
#include "edits.hpp"
#include "tasks.hpp"
#include "tokens.hpp"
#include "variables.hpp"

namespace tascell {
namespace {

// Reads what stands outside of functions. Its bodies are read by a body_reader.
class program_reader {
public:
  explicit program_reader(const token_list& tokens) : t_(tokens) {}

  std::string translate() {
    for (std::size_t at = 0; t_[at].what != kind::end;) at = declaration(at);
    tasks_.check_all_are_executed();
    std::string text = "#include <cleave/tascell.hpp>\n";
    // Closures have names of their own for what they carry, and the program is C.
    for (const char* warning : {"-Wshadow", "-Wold-style-cast"})
      text += fmt::format("#pragma GCC diagnostic ignored \"{}\"\n", warning);
    text += fmt::format("#line 1 {}\n", in_c(t_.file())) + changes_.apply(t_);
    if (!has_main_ && tasks_.first() != nullptr) text += main_of(*tasks_.first());
    return text;
  }

private:
  static std::string in_c(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + '"';
  }

  std::size_t declaration(std::size_t at) {
    const token& t = t_[at];
    if (t.is("task") && t_[at + 1].is_word() && t_[at + 2].is("{")) return tasks_.define(at);
    if (t.is("task_exec")) return exec(at);
    if (t.is("worker")) return worker(at);
    if (t.is("typedef")) return type(at);
    if (t.is("extern") && t_[at + 1].what == kind::literal && t_[at + 2].is("{")) return at + 3;
    if (t.is("namespace")) return opened_namespace(at);
    if (t.is("{")) return foreign(at);
    return token_outside(at);
  }

  // C or C++ that is not ours: only the names of tasks change.
  std::size_t token_outside(std::size_t at) {
    const token& t = t_[at];
    if (t.is("task") && t_[at + 1].is_word()) tasks_.name_type(at);
    for (const char* word : {"do_two", "dynamic_wind", "handles"})
      if (t.is(word)) t_.fail(at, "to be in a worker function or a task_exec");
    if (t.is("main") && t_[at + 1].is("(")) has_main_ = true;
    return at + 1;
  }
  std::size_t foreign(std::size_t open) {
    const std::size_t close = t_.closing(open);
    for (std::size_t at = open; at < close; at++) token_outside(at);
    return close + 1;
  }
  // What is in a namespace is outside of functions.
  std::size_t opened_namespace(std::size_t at) {
    while (t_[at].is_word() || t_[at].is("::")) at++;
    return t_[at].is("{") ? at + 1 : at;
  }
  std::size_t type(std::size_t at) {
    std::size_t end = at;
    while (t_[end].what != kind::end && !t_[end].is(";"))
      end = t_[end].is("{") ? foreign(end) : token_outside(end);
    locals_.add_typedef({at, end});
    return end;
  }

  std::size_t exec(std::size_t at) {
    task_definition& task = tasks_.named_by(at + 1);
    if (task.executed != 0)
      t_.fail(at + 1, "one task_exec for each task",
              fmt::format("a second one; the first is in line {}", t_[task.executed].line));
    task.executed = at + 1;
    const std::size_t open = at + 2;
    t_.expect(open, "{", "after the task's name");
    changes_.replace(at, "void");
    changes_.replace(
        at + 1,
        fmt::format("tascell_exec_{0}([[maybe_unused]] struct {0}& tascell_this)", task.name));
    return bodies_.read_exec(task, open);
  }

  std::size_t worker(std::size_t at) {
    changes_.replace(at, "");
    std::size_t open = at + 1;
    for (; !t_[open].is("("); open = token_outside(open))
      if (t_[open].what == kind::end || t_[open].is(";") || t_[open].is("{"))
        t_.fail(open, "'(' after the name of the worker function");
    if (!t_[open - 1].is_word() || open < at + 3)
      t_.fail(open, "the type and the name of the worker function");
    const std::size_t close = t_.closing(open);
    for (std::size_t i = open; i < close; i++) token_outside(i);
    if (t_[close + 1].is("{")) return bodies_.read_worker(open, close + 1);
    return t_.expect(close + 1, ";", "or '{' after the worker function's parameters");
  }

  const token_list& t_;
  edits changes_;
  task_table tasks_{t_, changes_};
  variables locals_{t_};
  body_reader bodies_{t_, changes_, tasks_, locals_};
  bool has_main_ = false;
};

}  // namespace

std::string translate(const std::string& file, std::string_view program) {
  const token_list tokens(file, program);
  return program_reader(tokens).translate();
}

}  // namespace tascell
