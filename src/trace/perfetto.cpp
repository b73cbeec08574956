#include "trace/perfetto.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string>

namespace cleave::trace {
namespace {

/// One line of the file.
struct event {
  std::uint64_t at;
  std::uint32_t worker;
  enum class phase : std::uint8_t { begin, end, arrow_begin, arrow_end } what;
  const span* of;
  std::size_t number = 0;  // those at the same time stay in order
};

const char* name_of(const span& s) {
  switch (s.what) {
    case activity::task: return "task";
    case activity::divide: return "divide";
    case activity::wait: return s.found ? "steal" : "idle";
    case activity::join: return s.found ? "take back" : "join";
  }
  return "";
}

/// The events of one worker, as they happened: spans nest.
void add_events(std::vector<event>& all, std::vector<span>& spans, std::uint32_t worker) {
  using phase = event::phase;
  std::sort(spans.begin(), spans.end(), [](const span& a, const span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<const span*> open;
  const auto close_until = [&](std::uint64_t end) {
    for (; !open.empty() && open.back()->end <= end; open.pop_back())
      all.push_back({open.back()->end, worker, phase::end, open.back()});
  };
  for (const span& s : spans) {
    close_until(s.begin);
    all.push_back({s.begin, worker, phase::begin, &s});
    if (s.made != 0) all.push_back({s.begin, worker, phase::arrow_end, &s});
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

}  // namespace

void write_json(std::FILE* out, std::vector<recorder::snapshot> workers, std::uint64_t first_tick,
                double microseconds_per_tick, const time_spent& spent) {
  using phase = event::phase;
  std::vector<event> all;
  std::uint64_t left_out = 0, shortest = 0;
  for (std::uint32_t i = 0; i < workers.size(); ++i) {
    add_events(all, workers[i].spans, i);
    for (const span& s : workers[i].spans)
      if (s.made != 0) all.push_back({s.made, s.maker, phase::arrow_begin, &s});
    left_out += workers[i].left_out;
    shortest = std::max(shortest, workers[i].shortest);
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
  std::sort(all.begin(), all.end(), [](const event& a, const event& b) {
    return a.at != b.at ? a.at < b.at : a.number < b.number;
  });
  const auto in_microseconds = [&](std::uint64_t length) {
    return static_cast<double>(length) * microseconds_per_tick;
  };

  std::fprintf(out, "{\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"elapsed_s\": %.6f, ",
               spent.elapsed);
  std::fprintf(out,
               "\"work_s\": %.6f, \"dividing_s\": %.6f, \"stealing_s\": %.6f, \"idle_s\": %.6f, ",
               spent.work, spent.dividing, spent.stealing, spent.idle);
  std::fprintf(out, "\"spans_left_out\": %llu, \"all_longer_than_us\": %.3f},\n",
               static_cast<unsigned long long>(left_out), in_microseconds(shortest));
  std::fprintf(out, "\"traceEvents\": [\n");
  std::fprintf(
      out, "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"%s\"}}",
      program_name().c_str());
  for (std::size_t i = 0; i < workers.size(); ++i)
    std::fprintf(out,
                 ",\n{\"ph\": \"M\", \"pid\": 1, \"tid\": %zu, \"name\": \"thread_name\", "
                 "\"args\": {\"name\": \"worker %zu\"}}",
                 i + 1, i);
  for (const event& e : all) {
    const span& s = *e.of;
    // A task that was made before the trace began cannot be: but clocks of two processors may
    // differ a little.
    const double ts = e.at > first_tick ? in_microseconds(e.at - first_tick) : 0;
    std::fprintf(out, ",\n{\"pid\": 1, \"tid\": %u, \"ts\": %.3f, ", e.worker + 1, ts);
    switch (e.what) {
      case phase::begin:
        std::fprintf(out, "\"ph\": \"B\", \"name\": \"%s\"", name_of(s));
        if (s.made != 0)
          std::fprintf(out, ", \"args\": {\"from\": %u, \"waited_us\": %.3f}", s.maker,
                       s.begin > s.made ? in_microseconds(s.begin - s.made) : 0.0);
        std::fprintf(out, "}");
        break;
      case phase::end: std::fprintf(out, "\"ph\": \"E\"}"); break;
      case phase::arrow_begin:
      case phase::arrow_end:
        std::fprintf(
            out, "\"ph\": \"%s\", \"cat\": \"made\", \"name\": \"made\", \"id\": \"%llx.%x\"%s}",
            e.what == phase::arrow_begin ? "s" : "f", static_cast<unsigned long long>(s.made),
            s.maker, e.what == phase::arrow_end ? ", \"bp\": \"e\"" : "");
    }
  }
  std::fprintf(out, "\n]}\n");
}

}  // namespace cleave::trace
