// The local variables of a worker function, and how the closures that its constructs become get
// them. What a closure captures by reference has to be in memory. So a number or a pointer that a
// construct does not change is captured by value; one that it changes is carried: the construct
// hands it from one iteration to the next, and returns it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tokens.hpp"

namespace tascell {

// A half-open range of tokens.
struct range {
  std::size_t first, last;
};

class variables {
public:
  explicit variables(const token_list& tokens) : t_(tokens) {}

  // The function's body begins: its variables whose address is taken are found.
  void begin_function(range body);

  void open_scope() { scopes_.push_back(known_.size()); }
  void close_scope() {
    known_.resize(scopes_.back());
    scopes_.pop_back();
  }

  // Whether a declaration of variables begins at this token. To be called where a statement begins.
  bool declares(std::size_t at) const;
  // Adds the variables that [first, last) declares: `int a, *b = 0, c[3]`.
  void declare(range declaration);
  // Adds the parameters in [first, last).
  void declare_parameters(range parameters);
  // A typedef of the program: whether its name stands for a number or a pointer.
  void add_typedef(range declaration);

  // The captures, `[&, n, p]`, of a closure with that text, within a construct with that text. Its
  // own parameters, `[&](int p)`, are no captures.
  std::string captures(range closure, range construct,
                       const std::vector<std::string_view>& parameters) const;
  // The numbers and pointers that these texts change and those others do not use.
  std::vector<std::string_view> carried(const std::vector<range>& changed_in,
                                        const std::vector<range>& unused_in,
                                        const std::vector<std::string_view>& parameters) const;
  bool uses(range text, std::string_view name) const;
  // Whether the first thing that a statement does with the variable is to assign it.
  bool assigns_first(range statement, std::string_view name) const;

private:
  struct variable {
    std::string_view name;
    int size = 0;  // of a number or a pointer that may be captured by value, in bytes; else 0
  };
  const variable* find(std::string_view name) const;
  const variable* movable(std::string_view name,
                          const std::vector<std::string_view>& parameters) const;
  bool is_use(std::size_t at) const;
  bool may_change(std::size_t at) const;
  // The token after the specifiers of a declaration, and the size of a number of that type.
  std::size_t skip_type(std::size_t at, int& size) const;
  std::size_t skip_name(std::size_t at) const;
  // Adds one variable; returns the token after its declarator.
  std::size_t declare_one(std::size_t at, std::size_t last, int size, bool is_parameter);

  const token_list& t_;
  std::vector<variable> known_;      // the innermost are the last
  std::vector<std::size_t> scopes_;  // how many were known when each scope began
  std::set<std::string_view> addressed_;
  std::set<std::string_view> number_types_, other_types_;  // typedefs of the program
};

}  // namespace tascell
