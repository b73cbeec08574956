#include "passes_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "measured.hpp"
#include "support/line_reader.hpp"

namespace study {

using json = nlohmann::ordered_json;

json head_of(const char* name, const made_in_passes& m, json plan) {
  json o{{"study", name}, {"date", m.date}, {"machine", m.machine}, {"cpus", m.cpus}};
  o["plan"] = std::move(plan);
  o["whole_passes"] = m.whole;
  if (m.interrupted) o["interrupted"] = true;
  if (m.out_of_time) o["out_of_time"] = true;
  add_to(o, m.beside, m.cpus);
  return o;
}

std::string in_text(const json& o, bool indented) {
  return o.dump(indented ? 1 : -1, ' ', false, json::error_handler_t::replace);
}

void read_study(const std::string& file, const std::string& name, made_in_passes& head,
                const std::function<void(const json&)>& take) {
  std::ifstream in = apps::open_input(file);
  try {
    const auto o = json::parse(in);
    if (o.value("study", json()) != name)
      throw std::runtime_error(fmt::format("no \"study\": \"{}\"", name));
    head.date = o.at("date"), head.machine = o.at("machine"), head.cpus = o.at("cpus");
    head.whole = o.at("whole_passes");
    take(o);
  } catch (const std::exception& e) {
    throw apps::input_error(file, 0, fmt::format("the {0}.json of `cleave study {0}`", name),
                            in_words(e));
  }
}

}  // namespace study
