// The text of a Tascell program as tokens of C, and what is wrong with it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tascell {

enum class kind : unsigned char {
  word,  // an identifier or a keyword
  number,
  literal,  // a string or a character
  punctuation,
  directive,  // a line of the preprocessor, with those that continue it
  end,
};

struct token {
  kind what;
  std::string_view text;
  std::size_t begin;  // where it begins in the program
  int line, column;   // from 1; columns are bytes

  bool is(std::string_view other) const { return text == other && what != kind::literal; }
  bool is_word() const { return what == kind::word; }
};

// A program as tokens; the last one has the kind `end`. The text must outlive it.
class token_list {
public:
  // Throws apps::input_error, as fail() does.
  token_list(std::string file, std::string_view text);

  const token& operator[](std::size_t i) const { return tokens_[i < size() ? i : size() - 1]; }
  std::size_t size() const { return tokens_.size(); }
  const std::string& file() const { return file_; }
  std::string_view text() const { return text_; }

  // Throws apps::input_error, with the line that a C compiler prints: `FILE:LINE:COLUMN: error:
  // expected …, got …`. `got` is the token's text if it is not given.
  [[noreturn]] void fail(std::size_t at, const std::string& expected, std::string got = "") const;
  // Returns the token after this one, which must be `text`. `where` is added to what was expected.
  std::size_t expect(std::size_t at, std::string_view text, const std::string& where) const;
  // Returns where the bracket at `open` is closed.
  std::size_t closing(std::size_t open) const;

private:
  [[noreturn]] void fail_at(int line, int column, const std::string& expected,
                            const std::string& got) const;
  void match_brackets();

  std::string file_;
  std::string_view text_;
  std::vector<token> tokens_;
  std::vector<std::size_t> closing_;  // of each opening bracket; else unused
};

}  // namespace tascell
