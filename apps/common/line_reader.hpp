// Reads a text file line by line and knows where it is when something is wrong.
#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
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

class line_reader {
public:
  // `name` stands for the file in messages.
  line_reader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  // False at the end. Line ends of any kind and trailing blanks are dropped.
  bool next() {
    if (!std::getline(in_, text_)) {
      if (in_.bad()) throw input_error(name_, line_ + 1, "another line", "a read error");
      return false;
    }
    line_++;
    text_.erase(text_.find_last_not_of(" \t\r") + 1);
    return true;
  }

  const std::string& text() const { return text_; }
  int line() const { return line_; }
  const std::string& name() const { return name_; }

  [[noreturn]] void fail(std::string expected, std::string got) const {
    throw input_error(name_, line_, std::move(expected), std::move(got));
  }

  // `word` as a whole number in [low, high]; `what` names it in the message.
  int number(std::string_view word, int low, int high, const std::string& what) const {
    int value = 0;
    auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size() || value < low || value > high)
      fail(what + " from " + std::to_string(low) + " to " + std::to_string(high), in_quotes(word));
    return value;
  }

private:
  std::istream& in_;
  std::string name_;
  std::string text_;
  int line_ = 0;
};

// Throws input_error when there is nothing to read.
inline std::ifstream open_input(const std::string& name) {
  errno = 0;
  std::ifstream in(name, std::ios::binary);
  if (!in || in.peek() == std::ifstream::traits_type::eof())
    throw input_error(name, 0, "a readable file that is not empty",
                      errno ? std::strerror(errno) : "an empty file");
  return in;
}

}  // namespace apps
