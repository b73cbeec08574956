#include "measured.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/line_reader.hpp"

namespace study {

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const auto high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - std::floor(at)) * (values[high] - values[low]);
}
double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

const cell* measured::find(const std::string& kernel, const std::string& system,
                           int workers) const {
  for (const cell& c : cells)
    if (c.kernel == kernel && c.system == system && c.workers == workers) return &c;
  return nullptr;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", std::localtime(&now));
  return text;
}

void add_to(nlohmann::ordered_json& o, const background& b, int cpus) {
  o["load"] = {b.load_before, b.load_after};
  o["others"] = b.others, o["stolen"] = b.stolen;
  if (const auto reason = b.disturbance(cpus); !reason.empty()) o["disturbed"] = reason;
}

std::string to_json(const measured& m, bool indented) {
  nlohmann::ordered_json o;
  o["study"] = 1;
  o["date"] = m.date, o["machine"] = m.machine, o["cpus"] = m.cpus;
  o["size"] = m.size, o["passes"] = m.passes;
  if (m.interrupted) o["interrupted"] = true;
  add_to(o, m.beside, m.cpus);
  o["capacity"] = m.beside.capacity;
  for (const auto& s : m.systems) {
    nlohmann::ordered_json one{{"name", s.name}};
    if (s.missing.empty()) one["version"] = s.version;
    else one["missing"] = s.missing;
    o["systems"].push_back(one);
  }
  o["cells"] = nlohmann::ordered_json::array();
  for (const auto& c : m.cells) {
    nlohmann::ordered_json one{{"kernel", c.kernel}, {"system", c.system}, {"workers", c.workers}};
    if (!c.arguments.empty()) one["arguments"] = c.arguments;
    if (!c.failed.empty()) {
      one["failed"] = c.failed;
    } else {
      one["seconds"] = c.seconds, one["cycles"] = c.cycles;
      if (c.tasks > 0) one["tasks"] = c.tasks;
      if (c.work > 0) one["work"] = c.work, one["span"] = c.span;
      if (!c.series.empty()) one["series"] = c.series;
      if (!c.shares.empty()) one["shares"] = c.shares;
      if (!c.profile.empty()) one["profile"] = c.profile;
    }
    o["cells"].push_back(one);
  }
  return o.dump(indented ? 1 : -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string in_words(const std::exception& e) {
  std::string text = e.what();
  if (text.starts_with("[json.")) text.erase(0, text.find(']') + 2);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

measured read_json(const std::string& file) {
  std::ifstream in = apps::open_input(file);
  try {
    const auto o = nlohmann::ordered_json::parse(in);
    if (o.value("study", 0) != 1) throw std::runtime_error("no \"study\": 1");
    measured m;
    m.date = o.at("date"), m.machine = o.at("machine"), m.cpus = o.at("cpus");
    m.size = o.at("size"), m.passes = o.at("passes");
    if (m.cpus < 1) throw std::runtime_error("\"cpus\": " + o.at("cpus").dump());
    m.beside.capacity = o.value("capacity", m.beside.capacity);
    m.beside.others = o.value("others", 0.0), m.beside.stolen = o.value("stolen", 0.0);
    m.interrupted = o.value("interrupted", false);
    for (const auto& s : o.at("systems"))
      m.systems.push_back({s.at("name"), s.value("version", ""), s.value("missing", "")});
    for (const auto& c : o.at("cells")) {
      cell one;
      one.kernel = c.at("kernel"), one.system = c.at("system"), one.workers = c.at("workers");
      one.arguments = c.value("arguments", ""), one.failed = c.value("failed", "");
      if (one.failed.empty()) {
        one.seconds = c.at("seconds").get<std::vector<double>>();
        one.cycles = c.at("cycles").get<std::vector<double>>();
      }
      one.tasks = c.value("tasks", 0.0);
      one.work = c.value("work", 0.0), one.span = c.value("span", 0.0);
      one.shares = c.value("shares", one.shares);
      one.profile = c.value("profile", one.profile);
      m.cells.push_back(one);
    }
    return m;
  } catch (const std::exception& e) {
    throw apps::input_error(file, 0, "the study.json of a study", in_words(e));
  }
}

}  // namespace study
