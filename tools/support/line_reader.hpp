// Reads a text file line by line and knows where it is when something is wrong.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "input_error.hpp"

namespace apps {

// The words of a line, separated by blanks and tabs.
inline std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    auto start = line.find_first_not_of(" \t");
    if (start == line.npos) return words;
    auto stop = std::min(line.find_first_of(" \t", start), line.size());
    words.push_back(line.substr(start, stop - start));
    line.remove_prefix(stop);
  }
}

// Text from a file for a message: short, and printable whatever it holds.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > longest ? "...'" : "'");
}

// Where in a file something was read: a line, and what is wrong with its words.
class place {
public:
  // `name` stands for the file in messages.
  explicit place(std::string name, int line = 0) : name_(std::move(name)), line_(line) {}

  int line() const { return line_; }
  const std::string& name() const { return name_; }

  [[noreturn]] void fail(std::string expected, std::string got) const {
    throw input_error(name_, line_, std::move(expected), std::move(got));
  }

  // `word` as a whole number in [low, high]; `what` names it in the message.
  int number(std::string_view word, int low, int high, const std::string& what) const {
    int value = 0;
    const std::string_view digits = without_plus(word);
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || stop != digits.data() + digits.size() || value < low ||
        value > high)
      fail(what + " from " + std::to_string(low) + " to " + std::to_string(high), in_quotes(word));
    return value;
  }

  // `word` as a finite number; `what` names it in the message.
  double real(std::string_view word, const std::string& what) const {
    double value = 0;
    const std::string_view digits = without_plus(word);
    const char* end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // A number too small for a double is 0, and one too large is none.
    if (error == std::errc::result_out_of_range && stop == end)
      value = std::strtod(std::string(digits).c_str(), nullptr);
    else if (error != std::errc() || stop != end) fail(what, in_quotes(word));
    if (!std::isfinite(value)) fail(what, in_quotes(word));
    return value;
  }

protected:
  void go_on(int lines) { line_ += lines; }

private:
  // from_chars() takes '-', but not '+', which other programs write and read.
  static std::string_view without_plus(std::string_view word) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    return word;
  }

  std::string name_;
  int line_;
};

class line_reader : public place {
public:
  line_reader(std::istream& in, std::string name) : place(std::move(name)), in_(in) {}

  // Reads the next line. False at the end of the file. Line ends of any kind and trailing blanks
  // are dropped.
  bool next() {
    constexpr std::size_t longest = 1 << 20;  // a file without line ends must not fill the memory
    constexpr int end_of_file = std::istream::traits_type::eof();
    text_.clear();
    go_on(1);
    int c = 0;
    try {
      while ((c = in_.rdbuf()->sbumpc()) != end_of_file && c != '\n') {
        if (text_.size() == longest)
          fail("a line of at most " + std::to_string(longest) + " characters", "a longer one");
        text_ += static_cast<char>(c);
      }
    } catch (const std::ios_base::failure&) { fail("another line", "a read error"); }
    if (c == end_of_file && text_.empty()) {
      go_on(-1);
      return false;
    }
    text_.erase(text_.find_last_not_of(" \t\r") + 1);
    return true;
  }

  const std::string& text() const { return text_; }

private:
  std::istream& in_;
  std::string text_;
};

// Opens a file. Throws input_error when there is nothing to read.
inline std::ifstream open_input(const std::string& name) {
  errno = 0;
  std::ifstream in(name, std::ios::binary);
  if (!in || in.peek() == std::ifstream::traits_type::eof())
    throw input_error(name, 0, "a readable file that is not empty",
                      errno ? std::strerror(errno) : "an empty file");
  return in;
}

}  // namespace apps
