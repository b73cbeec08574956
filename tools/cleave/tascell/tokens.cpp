#include "tokens.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "support/input_error.hpp"
#include "support/line_reader.hpp"

namespace tascell {
namespace {

bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool goes_on(char c) { return begins_word(c) || is_digit(c); }

constexpr std::array<std::string_view, 26> operators = {
    "<<=", ">>=", "...", "->*", "<=>", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "*=",  "/=",  "%=", "+=", "-=", "&=", "^=", "|=", "::", "##"};

// Cuts a text into tokens, one after the other.
class cutter {
public:
  explicit cutter(std::string_view text) : text_(text) {}

  // What is missing at the end of the text; empty if nothing is.
  std::string missing;

  token next() {
    skip_blanks();
    const token begun{kind::end, {}, at_, line_, column()};
    const kind what = missing.empty() ? take() : kind::end;
    return {what, text_.substr(begun.begin, at_ - begun.begin), begun.begin, begun.line,
            begun.column};
  }

private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= text_.size(); }
  bool looks_at(std::string_view s) const { return text_.substr(at_).starts_with(s); }
  int column() const { return static_cast<int>(at_ - line_begin_) + 1; }
  void step() {
    if (text_[at_++] == '\n') line_++, line_begin_ = at_;
  }
  void step(std::size_t n) {
    while (n-- > 0 && !at_end()) step();
  }
  // How many characters continue the line: a backslash and the line's end.
  std::size_t continuation() const {
    if (peek() != '\\') return 0;
    if (peek(1) == '\n') return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }

  void skip_blanks() {
    while (!at_end()) {
      const char c = peek();
      if (c == '\n') {
        first_in_line_ = true;
        step();
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        step();
      } else if (continuation() != 0) {
        step(continuation());
      } else if (looks_at("//")) {
        while (!at_end() && peek() != '\n') step(std::max<std::size_t>(1, continuation()));
      } else if (looks_at("/*")) {
        if (!skip_comment()) return;
      } else {
        return;
      }
    }
  }
  bool skip_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == text_.npos) {
      missing = "'*/' at the end of the comment";
      return false;
    }
    while (at_ < end + 2) step();
    return true;
  }

  kind take() {
    if (at_end()) return kind::end;
    const char c = peek();
    if (c == '#' && std::exchange(first_in_line_, false)) return take_directive();
    first_in_line_ = false;
    if (begins_word(c)) return take_word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return take_number();
    if (c == '"' || c == '\'') return take_literal(c);
    for (const std::string_view op : operators)
      if (looks_at(op)) {
        step(op.size());
        return kind::punctuation;
      }
    step();
    return kind::punctuation;
  }

  // A comment in it may have several lines, which belong to it.
  kind take_directive() {
    while (!at_end() && peek() != '\n') {
      if (looks_at("/*")) {
        if (!skip_comment()) break;
      } else {
        step(std::max<std::size_t>(1, continuation()));
      }
    }
    return kind::directive;
  }

  kind take_word() {
    const std::size_t begin = at_;
    while (!at_end() && goes_on(peek())) step();
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.size() > 3 || (peek() != '"' && peek() != '\'')) return kind::word;
    if (peek() == '"' && word.ends_with('R')) return take_raw();
    const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
    return prefix ? take_literal(peek()) : kind::word;
  }
  kind take_raw() {
    const std::size_t open = text_.find('(', at_);
    const std::size_t named = open == text_.npos ? 0 : open - at_ - 1;
    const std::string end = ")" + std::string(text_.substr(at_ + 1, named)) + "\"";
    const std::size_t close = open == text_.npos ? open : text_.find(end, open);
    if (close == text_.npos) {
      missing = "the end of the raw string";
    } else {
      while (at_ < close + end.size()) step();
    }
    return kind::literal;
  }
  kind take_number() {
    while (!at_end() && (goes_on(peek()) || peek() == '.' || (peek() == '\'' && goes_on(peek(1))) ||
                         ((peek() == '+' || peek() == '-') && after_exponent())))
      step();
    return kind::number;
  }
  bool after_exponent() const {
    const char before = text_[at_ - 1];
    return before == 'e' || before == 'E' || before == 'p' || before == 'P';
  }
  kind take_literal(char quote) {
    step();
    while (!at_end() && peek() != quote && peek() != '\n') {
      if (const std::size_t n = continuation(); n != 0) step(n);
      else step(peek() == '\\' ? 2 : 1);
    }
    if (peek() == quote) step();
    else missing = std::string(1, quote) + " at the end of the literal";
    return kind::literal;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 1;
  bool first_in_line_ = true;
};

}  // namespace

token_list::token_list(std::string file, std::string_view text)
    : file_(std::move(file)), text_(text) {
  cutter cut(text);
  do {
    tokens_.push_back(cut.next());
    const token& t = tokens_.back();
    if (!cut.missing.empty()) fail_at(t.line, t.column, cut.missing, "the end of the line or file");
  } while (tokens_.back().what != kind::end);
  match_brackets();
}

void token_list::fail_at(int line, int column, const std::string& expected,
                         const std::string& got) const {
  throw apps::input_error(
      file_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": error", 0, expected,
      got);
}

void token_list::fail(std::size_t at, const std::string& expected, std::string got) const {
  const token& t = (*this)[at];
  if (got.empty()) {
    const bool is_end = t.what == kind::end;
    got = is_end ? "the end of the file" : apps::in_quotes(t.text.substr(0, t.text.find('\n')));
  }
  fail_at(t.line, t.column, expected, got);
}

std::size_t token_list::expect(std::size_t at, std::string_view text,
                               const std::string& where) const {
  if (!(*this)[at].is(text)) fail(at, "'" + std::string(text) + "' " + where);
  return at + 1;
}

std::size_t token_list::closing(std::size_t open) const { return closing_[open]; }

void token_list::match_brackets() {
  constexpr std::string_view opening = "([{", closes = ")]}";
  closing_.assign(size(), 0);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); i++) {
    const token& t = tokens_[i];
    if (t.what == kind::end && !open.empty()) {
      const token& o = tokens_[open.back()];
      fail(i, std::string(1, closes[opening.find(o.text[0])]) + " for the " + std::string(o.text) +
                  " in line " + std::to_string(o.line));
    }
    if (t.what != kind::punctuation || t.text.size() != 1) continue;
    if (opening.find(t.text[0]) != opening.npos) open.push_back(i);
    const std::size_t which = closes.find(t.text[0]);
    if (which == closes.npos) continue;
    if (open.empty()) fail(i, "no " + std::string(t.text) + ": nothing is open here");
    const token& o = tokens_[open.back()];
    if (o.text[0] != opening[which])
      fail(i, std::string(1, closes[opening.find(o.text[0])]) + " for the " + std::string(o.text) +
                  " in line " + std::to_string(o.line));
    closing_[open.back()] = i;
    open.pop_back();
  }
}

}  // namespace tascell
