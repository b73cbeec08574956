// Reads instances in TSPLIB's format, as far as they are of the symmetric problem.
#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distances.hpp"
#include "instance.hpp"
#include "support/line_reader.hpp"

namespace apps::tsp {

// The text about files in --help.
inline constexpr const char* tsplib_format =
    R"(FILE is in TSPLIB's format, with TYPE: TSP and one of
    EDGE_WEIGHT_TYPE: EUC_2D, CEIL_2D, GEO, ATT    NODE_COORD_SECTION
    EDGE_WEIGHT_TYPE: EXPLICIT                     EDGE_WEIGHT_SECTION
    EDGE_WEIGHT_FORMAT: FULL_MATRIX, UPPER_ROW, LOWER_ROW, UPPER_DIAG_ROW, LOWER_DIAG_ROW,
                        UPPER_COL, LOWER_COL, UPPER_DIAG_COL, LOWER_DIAG_COL
)";

class tsplib_reader {
public:
  // `name` stands for the file in messages.
  tsplib_reader(std::istream& in, const std::string& name) : reader_(in, name) {}

  // Throws input_error.
  instance read() {
    while (next_keyword() && key_ != "EOF") take_keyword();
    if (!read_.cities)
      at_the_end(type_ == "EXPLICIT" ? "EDGE_WEIGHT_SECTION" : "NODE_COORD_SECTION");
    read_.name = name_;
    return std::move(read_);
  }

private:
  using distance_function = double (*)(point, point);
  struct type_of_lengths {
    std::string_view name;
    distance_function distance;  // null: the lengths are in the file
  };
  static constexpr std::array<type_of_lengths, 5> types{{{"EUC_2D", euclidean},
                                                         {"CEIL_2D", rounded_up},
                                                         {"GEO", geographical},
                                                         {"ATT", pseudo_euclidean},
                                                         {"EXPLICIT", nullptr}}};

  // Which entries of the matrix are in the file, row after row. The triangle above the diagonal by
  // columns is the one below it by rows.
  struct format {
    std::string_view name;
    bool below, diagonal, above;
  };
  static constexpr std::array<format, 9> formats{{{"FULL_MATRIX", true, true, true},
                                                  {"UPPER_ROW", false, false, true},
                                                  {"LOWER_ROW", true, false, false},
                                                  {"UPPER_DIAG_ROW", false, true, true},
                                                  {"LOWER_DIAG_ROW", true, true, false},
                                                  {"UPPER_COL", true, false, false},
                                                  {"LOWER_COL", false, false, true},
                                                  {"UPPER_DIAG_COL", true, true, false},
                                                  {"LOWER_DIAG_COL", false, true, true}}};

  template <class List>
  static const typename List::value_type* find(const List& list, std::string_view name) {
    for (const auto& each : list)
      if (each.name == name) return &each;
    return nullptr;
  }
  template <class List>
  static std::string names(const List& list) {
    std::string all;
    for (const auto& each : list) {
      if (!all.empty()) all += &each == &list.back() ? " or " : ", ";
      all += each.name;
    }
    return all;
  }

  // ---- the specification: lines KEYWORD: VALUE

  // Reads on to a line that is not empty: a keyword, and what follows it or its ':'.
  bool next_keyword() {
    do {
      if (!reader_.next()) return false;
    } while (reader_.text().find_first_not_of(" \t") == std::string::npos);
    const std::string_view line = trimmed(reader_.text());
    const auto end = std::min(line.find_first_of(": \t"), line.size());
    key_ = line.substr(0, end);
    value_ = trimmed(line.substr(end));
    if (!value_.empty() && value_[0] == ':') value_ = trimmed(std::string_view(value_).substr(1));
    return true;
  }
  static std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  void take_keyword() {
    if (key_ == "NAME") {
      name_ = value_;
    } else if (key_ == "TYPE") {
      if (first_word() != "TSP") reader_.fail("TSP, the symmetric problem", in_quotes(value_));
    } else if (key_ == "DIMENSION") {
      if (read_.cities) reader_.fail("DIMENSION before the section of the lengths", key_);
      cities_ = reader_.number(value_, least_cities, most_cities, "a number of cities");
    } else if (key_ == "EDGE_WEIGHT_TYPE") {
      if (!find(types, value_)) reader_.fail(names(types), in_quotes(value_));
      type_ = value_;
    } else if (key_ == "EDGE_WEIGHT_FORMAT") {
      if (value_ != "FUNCTION" && !find(formats, value_))
        reader_.fail(names(formats), in_quotes(value_));
      format_ = value_;
    } else if (key_ == "NODE_COORD_TYPE") {
      if (value_ != "TWOD_COORDS" && value_ != "NO_COORDS")
        reader_.fail("TWOD_COORDS or NO_COORDS", in_quotes(value_));
    } else if (key_ == "NODE_COORD_SECTION") {
      coordinates();
    } else if (key_ == "EDGE_WEIGHT_SECTION") {
      weights();
    } else if (key_ == "DISPLAY_DATA_SECTION") {
      places();
    } else if (key_ == "FIXED_EDGES_SECTION") {
      reader_.fail("no edges that are fixed", key_);
    } else if (key_ != "COMMENT" && key_ != "DISPLAY_DATA_TYPE") {
      reader_.fail(
          "NAME, TYPE, COMMENT, DIMENSION, EDGE_WEIGHT_TYPE, EDGE_WEIGHT_FORMAT, NODE_COORD_TYPE, "
          "DISPLAY_DATA_TYPE, NODE_COORD_SECTION, EDGE_WEIGHT_SECTION, DISPLAY_DATA_SECTION or EOF",
          in_quotes(key_));
    }
  }
  std::string_view first_word() const {
    return std::string_view(value_).substr(0, value_.find(' '));
  }

  // ---- the sections

  void coordinates() {
    const auto* type = begin_lengths();
    if (!type->distance) reader_.fail("EDGE_WEIGHT_SECTION, as the type is EXPLICIT", key_);
    const std::vector<point> at = places();
    read_ = instance("", cities_);
    for (int a = 0; a < cities_; a++)
      for (int b = a + 1; b < cities_; b++) {
        const double length = type->distance(at[std::size_t(a)], at[std::size_t(b)]);
        if (!(length <= longest))
          reader_.fail("cities at most " + std::to_string(longest) + " apart",
                       std::to_string(a + 1) + " and " + std::to_string(b + 1));
        read_.set(a, b, static_cast<int>(length));
      }
  }

  void weights() {
    const auto* type = begin_lengths();
    if (type->distance) reader_.fail("NODE_COORD_SECTION, as the type is " + type_, key_);
    const format* f = find(formats, format_);
    if (!f) reader_.fail("EDGE_WEIGHT_FORMAT before, with " + names(formats), key_);
    read_ = instance("", cities_);
    const int n = cities_;
    const int total =
        (f->below ? n * (n - 1) / 2 : 0) + (f->above ? n * (n - 1) / 2 : 0) + (f->diagonal ? n : 0);
    int count = 0;
    for (int row = 0; row < n; row++) {
      const int from = f->below ? 0 : f->diagonal ? row : row + 1;
      const int to = f->above ? n : f->diagonal ? row + 1 : row;
      for (int column = from; column < to; column++) {
        const int length = next_number(++count, total);
        if (row == column) continue;
        if (f->below && f->above && column < row && read_(row, column) != length)
          reader_.fail("a symmetric matrix, in which row " + std::to_string(row + 1) + " has " +
                           std::to_string(read_(row, column)) + " in column " +
                           std::to_string(column + 1),
                       std::to_string(length));
        read_.set(row, column, length);
      }
    }
    if (word_ != words_.size())
      reader_.fail(std::to_string(total) + " lengths", "one more: " + in_quotes(words_[word_]));
  }

  const type_of_lengths* begin_lengths() {
    if (read_.cities) reader_.fail("one section of lengths", "a second one");
    need_dimension();
    const auto* type = find(types, type_);
    if (!type) reader_.fail("EDGE_WEIGHT_TYPE before, with " + names(types), key_);
    return type;
  }
  void need_dimension() {
    if (cities_ == 0) reader_.fail("DIMENSION before", key_);
  }

  // The next of `total` numbers, wherever lines end.
  int next_number(int which, int total) {
    while (word_ == words_.size()) {
      if (!reader_.next()) at_the_end(std::to_string(total) + " lengths");
      words_ = split(reader_.text());
      word_ = 0;
    }
    return reader_.number(words_[word_++], 0, longest,
                          "length " + std::to_string(which) + " of " + std::to_string(total) + ",");
  }

  // A line for each city: its number and two coordinates.
  std::vector<point> places() {
    need_dimension();
    const auto n = static_cast<std::size_t>(cities_);
    std::vector<point> at(n);
    std::vector<bool> known(n);
    for (std::size_t count = 0; count < n;) {
      if (!reader_.next()) at_the_end(std::to_string(n) + " cities");
      const auto words = split(reader_.text());
      if (words.empty()) continue;
      if (words.size() != 3)
        reader_.fail("the line of city " + std::to_string(count + 1) + " of " + std::to_string(n) +
                         ": a number, x and y",
                     in_quotes(reader_.text()));
      const auto city =
          static_cast<std::size_t>(reader_.number(words[0], 1, cities_, "a city's number")) - 1;
      if (known[city]) reader_.fail("each city once", in_quotes(words[0]));
      known[city] = true;
      at[city] = {reader_.real(words[1], "a coordinate"), reader_.real(words[2], "a coordinate")};
      count++;
    }
    return at;
  }

  [[noreturn]] void at_the_end(const std::string& expected) const {
    throw input_error(reader_.name(), reader_.line(), expected, "the end of the file");
  }

  line_reader reader_;
  std::string key_, value_;  // of the line
  std::string name_, type_, format_;
  int cities_ = 0;
  std::vector<std::string_view> words_;  // of a line in a section of numbers
  std::size_t word_ = 0;                 // the first one not taken yet
  instance read_;
};

// Reads an instance from a file. Throws input_error.
inline instance load(const std::string& file) {
  auto in = open_input(file);
  return tsplib_reader(in, file).read();
}

}  // namespace apps::tsp
