// The body of a worker function or of a task_exec: its statements, and the constructs among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edits.hpp"
#include "tasks.hpp"
#include "tokens.hpp"
#include "variables.hpp"

namespace tascell {

// What a piece of the body becomes: the function itself, or a closure of C++.
enum class part : unsigned char { function, loop, branch, wound, put, get, change };

struct closure {
  part of;
  std::string wind = {};  // of a parallel for's statement: the name of the loop's own step
  std::string self = {};  // what `this` is in it; empty: what it is around it
  const task_definition* task = nullptr;  // of `this`
  int loops = 0;                          // ordinary loops around a statement, within the closure
  int breakable = 0;                      // these and switches
  bool uses_wind = false;
};

// Reads bodies one after the other and notes the edits that make C++ of them. A construct is read
// to its end before its own edits are noted: the captures of its closures depend on all of it.
class body_reader {
public:
  body_reader(const token_list& tokens, edits& changes, task_table& tasks, variables& locals)
      : t_(tokens), e_(changes), tasks_(tasks), locals_(locals) {}

  // Reads the body of a worker function; its parameters are within the parenthesis at `parameters`,
  // its brace is at `open`. Returns the token after it.
  std::size_t read_worker(std::size_t parameters, std::size_t open);
  // Reads the body of the task's task_exec.
  std::size_t read_exec(const task_definition& task, std::size_t open);

private:
  using names = std::vector<std::string_view>;
  // A statement that becomes a closure, and what its parameters are.
  struct piece {
    range text;
    bool braces = false;  // whether it is a compound statement
    names parameters = {};
    closure read = {};
  };
  // The variables that a construct hands through its closures, as the members of one struct.
  struct carriage {
    std::string name;  // of the struct, and of the object; empty: there are none
    names variables;
  };
  struct handlers {
    const task_definition* task = nullptr;
    std::size_t begin = 0;  // the word `handles`
    piece put, get;
  };

  // Each reads what begins at this token and returns the token after it.
  std::size_t body(closure of, std::size_t open);
  std::size_t statement(std::size_t at);
  std::size_t compound(std::size_t open);
  std::size_t simple(std::size_t at);
  std::size_t conditional(std::size_t at);
  std::size_t do_while(std::size_t at);
  std::size_t c_for(std::size_t at);
  std::size_t label(std::size_t at);
  std::size_t jump(std::size_t at);
  std::size_t parallel_for(std::size_t at);
  std::size_t do_two(std::size_t at);
  std::size_t dynamic_wind(std::size_t at);
  std::size_t repeated(std::size_t at, bool is_loop);
  std::size_t parenthesis(std::size_t at, const std::string& of);

  piece read_piece(closure c, std::size_t at);
  piece read_block(closure c, std::size_t at, const std::string& what);
  handlers read_handlers(std::size_t at, bool of_loop);
  names read_limits(std::size_t at);
  void make_closure(const piece& p, range construct, const std::string& parameters,
                    const std::string& prologue = "");
  void make_handlers(const handlers& h, range construct, const std::vector<carriage>& carried);
  carriage carry(names variables);
  std::string declared(const carriage& c, range statement) const;
  std::string referred(const carriage& c, range text) const;
  static std::string assigned(const carriage& c);

  std::size_t find_outside_brackets(range text, std::string_view wanted) const;
  std::size_t statement_end(std::size_t at) const;
  void expressions(range text);
  void self(std::size_t at);
  void refuse_here(std::size_t at) const;
  std::string unique(const std::string& name) { return name + std::to_string(++names_); }

  const token_list& t_;
  edits& e_;
  task_table& tasks_;
  variables& locals_;
  std::vector<closure> closures_;
  int names_ = 0, depth_ = 0;
};

}  // namespace tascell
