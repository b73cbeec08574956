#include "trace/perfetto.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <string>

namespace cleave::trace {
namespace {

/// One line of the file.
struct event {
  double at;  // microseconds
  std::uint32_t node, worker;
  enum class phase : std::uint8_t { begin, end, arrow_begin, arrow_end } what;
  const span* of;
  std::uint32_t maker_node = 0;  // for arrows: the node of the maker
  double waited = 0;
  std::size_t number = 0;  // keeps events at the same time in order
};

/// The beginning of a string, as JSON has it without the quotes.
std::string escaped(const char* text) {
  constexpr std::ptrdiff_t most = 60;  // short enough that spans have room
  std::string to;
  for (const char* c = text; *c != '\0' && c - text < most; ++c) {
    if (*c == '"' || *c == '\\') to += '\\';
    to += std::iscntrl(static_cast<unsigned char>(*c)) ? ' ' : *c;
  }
  return to;
}

std::string name_of(const span& s) {
  switch (s.what) {
    case activity::task: return s.name != nullptr ? escaped(s.name) : "task";
    case activity::divide: return "divide";
    case activity::wait: return s.found ? "steal" : "idle";
    case activity::join: return s.found ? "take back" : "join";
  }
  return "";
}

const node_trace* find(const std::vector<node_trace>& nodes, std::uint32_t node) {
  for (const node_trace& n : nodes)
    if (n.node == node) return &n;
  return nullptr;
}

/// The events of one worker, as they happened: spans nest.
void add_events(std::vector<event>& all, const std::vector<node_trace>& nodes, const node_trace& n,
                std::uint32_t worker, std::vector<span>& spans) {
  using phase = event::phase;
  std::sort(spans.begin(), spans.end(), [](const span& a, const span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<const span*> open;
  const auto close_until = [&](std::uint64_t end) {
    for (; !open.empty() && open.back()->end <= end; open.pop_back())
      all.push_back({n.at(open.back()->end), n.node, worker, phase::end, open.back()});
  };
  for (const span& s : spans) {
    close_until(s.begin);
    const double begin = n.at(s.begin);
    const node_trace* const maker = s.node == 0 ? &n : find(nodes, s.node - 1);
    const bool arrow = s.made != 0 && maker != nullptr;
    // Clocks differ a little: nothing is made after it begins.
    const double made = arrow ? std::min(maker->at(s.made), begin) : begin;
    const std::uint32_t by = arrow ? maker->node : 0;
    if (arrow) all.push_back({made, by, s.maker, phase::arrow_begin, &s, by});
    all.push_back({begin, n.node, worker, phase::begin, &s, by, begin - made});
    if (arrow) all.push_back({begin, n.node, worker, phase::arrow_end, &s, by});
    open.push_back(&s);
  }
  close_until(~std::uint64_t{0});
}

/// The program's name, of letters that need no quoting.
std::string program_name() {
  std::string name;
  for (const char* c = program_invocation_short_name; *c != '\0' && name.size() < 100; ++c)
    name += std::isalnum(static_cast<unsigned char>(*c)) || *c == '-' || *c == '.' ? *c : '_';
  return name;
}

void write_names(std::FILE* out, const std::vector<node_trace>& nodes) {
  const char* separator = "";
  for (const node_trace& n : nodes) {
    const std::string name =
        program_name() + (nodes.size() > 1 ? " node " + std::to_string(n.node) : "");
    std::fprintf(out,
                 "%s{\"ph\": \"M\", \"pid\": %u, \"name\": \"process_name\", \"args\": "
                 "{\"name\": \"%s\"}}",
                 separator, n.node + 1, name.c_str());
    separator = ",\n";
    for (std::size_t i = 0; i < n.workers.size(); ++i)
      std::fprintf(out,
                   ",\n{\"ph\": \"M\", \"pid\": %u, \"tid\": %zu, \"name\": \"thread_name\", "
                   "\"args\": {\"name\": \"worker %zu\"}}",
                   n.node + 1, i + 1, i);
  }
}

void write_event(std::FILE* out, const event& e, double first) {
  using phase = event::phase;
  const span& s = *e.of;
  std::fprintf(out, ",\n{\"pid\": %u, \"tid\": %u, \"ts\": %.3f, ", e.node + 1, e.worker + 1,
               std::max(e.at - first, 0.0));
  switch (e.what) {
    case phase::begin:
      std::fprintf(out, "\"ph\": \"B\", \"name\": \"%s\"", name_of(s).c_str());
      if (s.made != 0) {
        std::fprintf(out, ", \"args\": {\"from\": %u, ", s.maker);
        if (s.node != 0) std::fprintf(out, "\"from_node\": %u, ", s.node - 1);
        std::fprintf(out, "\"waited_us\": %.3f}", e.waited);
      }
      std::fprintf(out, "}");
      break;
    case phase::end: std::fprintf(out, "\"ph\": \"E\"}"); break;
    case phase::arrow_begin:
    case phase::arrow_end:
      std::fprintf(
          out, "\"ph\": \"%s\", \"cat\": \"made\", \"name\": \"made\", \"id\": \"%llx.%x.%x\"%s}",
          e.what == phase::arrow_begin ? "s" : "f", static_cast<unsigned long long>(s.made),
          s.maker, e.maker_node, e.what == phase::arrow_end ? ", \"bp\": \"e\"" : "");
  }
}

}  // namespace

void write_json(std::FILE* out, std::vector<node_trace> nodes, const time_spent& spent) {
  std::vector<event> all;
  std::uint64_t left_out = 0;
  double shortest = 0;
  for (node_trace& n : nodes) {
    for (std::uint32_t i = 0; i < n.workers.size(); ++i) {
      add_events(all, nodes, n, i, n.workers[i].spans);
      left_out += n.workers[i].left_out;
      shortest = std::max(shortest, static_cast<double>(n.workers[i].shortest) * n.us_per_tick);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
  std::sort(all.begin(), all.end(), [](const event& a, const event& b) {
    return a.at != b.at ? a.at < b.at : a.number < b.number;
  });

  std::fprintf(out, "{\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"elapsed_s\": %.6f, ",
               spent.elapsed);
  std::fprintf(out,
               "\"work_s\": %.6f, \"dividing_s\": %.6f, \"stealing_s\": %.6f, \"idle_s\": %.6f, ",
               spent.work, spent.dividing, spent.stealing, spent.idle);
  std::fprintf(out, "\"spans_left_out\": %llu, \"all_longer_than_us\": %.3f},\n",
               static_cast<unsigned long long>(left_out), shortest);
  std::fprintf(out, "\"traceEvents\": [\n");
  write_names(out, nodes);
  for (const event& e : all) write_event(out, e, nodes.front().first_us);
  std::fprintf(out, "\n]}\n");
}

}  // namespace cleave::trace
