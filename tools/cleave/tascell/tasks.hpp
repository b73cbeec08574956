// The tasks that a Tascell program defines, and the C++ that they become: a struct of the fields,
// one of the results, and the task that is given away, which has the fields as its base.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "edits.hpp"
#include "tokens.hpp"

namespace tascell {

enum class direction : unsigned char { stays, in, out, inout };

struct field {
  std::string_view name;
  direction where;
};

struct task_definition {
  std::string_view name;
  std::vector<field> fields;
  std::size_t at = 0;        // its name in the program
  std::size_t executed = 0;  // its name where task_exec defines it; 0: not yet

  const field* find(std::string_view field_name) const;
};

class task_table {
public:
  task_table(const token_list& tokens, edits& changes) : t_(tokens), e_(changes) {}

  // Reads `task N { … };`, which begins at this token; returns the token after it.
  std::size_t define(std::size_t at);
  // Makes `struct N` of `task N` at this token, where the name of a type stands.
  void name_type(std::size_t at);
  // The task that this token names. Throws if there is none.
  task_definition& named_by(std::size_t at);

  const task_definition* first() const { return first_; }
  // Throws if a task has no task_exec.
  void check_all_are_executed() const;

private:
  std::size_t read_fields(task_definition& task, direction where, std::size_t at, std::size_t last);
  std::string structs(const task_definition& task) const;

  const token_list& t_;
  edits& e_;
  std::map<std::string_view, task_definition> known_;
  const task_definition* first_ = nullptr;
};

// The function that is generated where a program has no main: it runs this task, with the numbers
// on the command line.
std::string main_of(const task_definition& task);

}  // namespace tascell
