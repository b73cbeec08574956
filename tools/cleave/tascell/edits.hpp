// The changes that make C++ of a Tascell program. Nothing that is added has a line's end, and
// nothing changes places, so that each line of the result is the same line of the program.
#pragma once

#include <map>
#include <string>

#include "tokens.hpp"

namespace tascell {

class edits {
public:
  // What is put in later stands further out: an outer construct is done after the inner ones.
  void before(std::size_t i, const std::string& text) { at_[i].before.insert(0, text); }
  void after(std::size_t i, const std::string& text) { at_[i].after += text; }
  void replace(std::size_t i, const std::string& text) {
    at_[i].replaced = true;
    at_[i].instead = text;
  }
  void erase(std::size_t first, std::size_t last) {
    for (; first < last; first++) replace(first, "");
  }

  std::string apply(const token_list& tokens) const;

private:
  struct change {
    std::string before, instead, after;
    bool replaced = false;
  };
  std::map<std::size_t, change> at_;  // by tokens
};

}  // namespace tascell
