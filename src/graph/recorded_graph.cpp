#include "graph/recorded_graph.hpp"

#include "machine/saved_file.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace cleave::detail {
namespace {

constexpr std::string_view title = "cleave plan 1\n", title_of_ranks = "cleave plan 2\n";

}  // namespace

void recorded_graph::put(byte_writer& w) const {
  w.raw((of_ranks ? title_of_ranks : title).data(), title.size());
  w.put<std::uint32_t>(nodes), w.put<std::uint32_t>(workers);
  for (const auto& c : {messages.sending, messages.transit, messages.receiving})
    w.put(c.fixed), w.put(c.per_byte);
  w.put_length(names.size());
  for (const std::string& name : names) w.put_text(name);
  w.put_length(bytes.size());
  w.put_all(bytes.data(), bytes.size());
  w.put_length(subtasks.size());
  for (std::size_t i = 0; i < subtasks.size(); ++i) {
    const subtask& s = subtasks[i];
    w.put(s.name), w.put(s.asked), w.put(s.ran_on), w.put(s.duration);
    w.put_length(uses_of(i).size());
    for (const use& u : uses_of(i)) w.put(u.datum), w.put(static_cast<std::uint8_t>(u.mode));
    w.put_length(after_of(i).size());
    for (const std::uint32_t before : after_of(i)) w.put(before);
  }
}

void recorded_graph::get(byte_reader& r) {
  *this = {};
  const auto begins = r.raw(std::min(title.size(), r.left()));
  of_ranks = std::ranges::equal(begins, std::as_bytes(std::span(title_of_ranks)));
  if (!of_ranks && !std::ranges::equal(begins, std::as_bytes(std::span(title))))
    r.fail("a recorded graph");
  nodes = r.get<std::uint32_t>(), workers = r.get<std::uint32_t>();
  const auto check = [&r](bool holds, const char* expected) {
    if (!holds) r.fail(expected);
  };
  check(nodes > 0 && workers > 0, "what ran it");
  for (auto* const c : {&messages.sending, &messages.transit, &messages.receiving}) {
    c->fixed = r.get<double>(), c->per_byte = r.get<double>();
    check(c->fixed >= 0 && c->per_byte >= 0, "the time of a message");
  }
  for (std::size_t n = r.get_length(); n > 0; --n) names.push_back(r.get_text());
  const std::size_t data = r.get_length();
  check(data <= r.left() / sizeof(double), "the sizes of data");
  bytes.resize(data);
  r.get_all(bytes.data(), data);
  for (const double size : bytes) check(size >= 0, "the size of a value");
  for (std::size_t n = r.get_length(), i = 0; i < n; ++i) {
    subtask s;
    s.name = r.get<std::uint32_t>(), s.asked = r.get<std::uint32_t>();
    s.ran_on = r.get<std::uint32_t>(), s.duration = r.get<double>();
    check(s.name < names.size() && s.ran_on < nodes && s.duration >= 0, "a subtask");
    for (std::size_t k = r.get_length(); k > 0; --k) {
      const auto datum = r.get<std::uint32_t>();
      const auto mode = r.get<std::uint8_t>();
      check(datum < data && mode <= static_cast<std::uint8_t>(access_mode::add),
            "a use of a datum");
      uses.push_back({datum, static_cast<access_mode>(mode)});
    }
    for (std::size_t k = r.get_length(); k > 0; --k) {
      after.push_back(r.get<std::uint32_t>());
      check(after.back() < i, "a subtask before this one");
    }
    s.uses_end = static_cast<std::uint32_t>(uses.size());
    s.after_end = static_cast<std::uint32_t>(after.size());
    subtasks.push_back(s);
  }
  r.expect_end();
}

recorded_graph read_recorded_graph(const std::string& file) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::block)
    throw std::runtime_error(file + ": expected a recorded graph, got a device");
  std::ifstream in(file, std::ios::binary);
  std::vector<char> text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw std::runtime_error(file + ": cannot be read");
  recorded_graph g;
  byte_reader r(std::as_bytes(std::span(text)));
  try {
    g.get(r);
  } catch (const malformed& e) {
    throw std::runtime_error(file + ": at byte " + std::to_string(text.size() - r.left()) + " of " +
                             std::to_string(text.size()) + ": " + e.what());
  }
  return g;
}

void write_recorded_graph(const recorded_graph& g, const std::string& file) {
  std::vector<std::byte> text;
  byte_writer w(text);
  g.put(w);
  machine::saved_file out(file);
  std::fwrite(text.data(), 1, text.size(), out.stream());
  out.keep();
}

}  // namespace cleave::detail
