#include "tsp_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cpus.hpp"
#include "interrupt.hpp"
#include "measured.hpp"
#include "mpi_here.hpp"
#include "read_all.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace study::tours {
namespace {

using names = std::vector<std::string>;

void check(const char* option, const names& given, const names& expected) {
  for (const auto& name : given)
    if (std::find(expected.begin(), expected.end(), name) == expected.end())
      throw apps::usage_error(fmt::format("{}: expected some of {}, got '{}'", option,
                                          fmt::join(expected, ", "), name));
}

// The MPI that joins the searchers; none if they are threads.
std::string mpi_of(const choice& asked, std::string& missing) {
  if (asked.threads) return "";
  const names wanted = asked.mpi.empty() ? names{"openmpi", "mpich"} : names{asked.mpi};
  std::string why;
  for (const auto& mpi : wanted) {
    const auto lacks = missing_for_jobs(mpi);
    if (lacks.empty()) return mpi;
    why += (why.empty() ? "" : "; ") + lacks;
  }
  if (!asked.mpi.empty()) throw apps::usage_error(fmt::format("--mpi: {}: {}", asked.mpi, why));
  missing = "searchers are threads of one process: " + why;
  return "";
}

int or_usual(int asked, int usual) { return asked > 0 ? asked : usual; }

// What one run tells. Throws std::runtime_error if it has not found what it was to find.
cell read_answer(const cell& run, const plan& p, const std::string& said) {
  const auto at = said.find('{');
  if (at == std::string::npos) throw std::runtime_error("says nothing");
  const auto o = nlohmann::json::parse(said.substr(at, said.find('\n', at) - at));
  if (o.at("answer") != p.tours || o.at("workers") != run.searchers)
    throw std::runtime_error("an answer of " + o.at("answer").dump() + " tours by " +
                             o.at("workers").dump() + " searchers");
  cell c = run;
  for (const auto& name : all_values)
    if (o.contains(name)) c.values[name] = {o.at(name).get<double>()};
  return c;
}

class experiment : public passes<experiment, measured> {
public:
  experiment(const settings& asked, const listener& to)
      : passes(asked, to), program_(asked.cleave.parent_path() / "tsp") {
    if (!std::filesystem::exists(program_)) throw std::runtime_error("no " + program_.string());
    leave_jobs();
    if (asked.goes_on) {
      require_same_machine();
    } else {
      m_.what = plan_of(asked.what, m_.missing);
      m_.machine = apps::processor(), m_.cpus = static_cast<int>(cpus_allowed().size());
    }
    begin();
  }

  std::vector<cell> runs(int pass) const { return runs_of(m_.what, pass); }
  static std::string name(const cell& run) {
    return fmt::format("{}, {} searchers", run.name(), run.searchers);
  }
  bool is_left_out(const cell& run) const { return has_failed(run); }
  std::vector<cell> measure(const cell& run, int pass) {
    return measured_or_failed(run, [&] { return std::vector{result_of(run, pass)}; });
  }
  static void add(std::vector<cell>& to, const cell& one) {
    cell* const same = same_cell(to, one);
    if (same == nullptr) return;
    for (const auto& [name, values] : one.values) same->values[name].push_back(values[0]);
  }
  std::string why_nothing() const { return first_failure(); }
  measured so_far() const {
    measured m = m_;
    m.beside = machine_.so_far();
    const auto place = [](const cell& c) {
      const auto at = [](const names& of, const std::string& name) {
        return std::find(of.begin(), of.end(), name) - of.begin();
      };
      return std::tuple(c.organisation.empty() ? -1 : at(all_organisations, c.organisation),
                        at(all_rules, c.rule), c.searchers);
    };
    std::sort(m.cells.begin(), m.cells.end(),
              [&place](const cell& a, const cell& b) { return place(a) < place(b); });
    return m;
  }

private:
  void require_same_machine() const {
    require_same_processor();
    if (m_.what.mpi.empty()) return;
    if (const auto why = missing_for_jobs(m_.what.mpi); !why.empty())
      throw apps::usage_error(fmt::format("--resume: {}: {}", m_.what.mpi, why));
  }

  cell result_of(const cell& run, int pass) {
    const auto command = command_of(run, m_.what, pass, program_);
    return read_answer(run, m_.what, said_by(command, work_.path() / "err", last_));
  }

  std::filesystem::path program_;
  scratch work_;
};

}  // namespace

plan plan_of(const choice& asked, std::string& missing) {
  check("--organisations", asked.organisations, all_organisations);
  check("--rules", asked.rules, all_rules);
  plan p;
  p.quick = asked.quick;
  p.mpi = mpi_of(asked, missing);
  p.organisations = asked.organisations.empty() ? all_organisations : asked.organisations;
  p.rules = asked.rules.empty() ? all_rules : asked.rules;
  p.searchers = !asked.searchers.empty() ? asked.searchers
                : asked.quick            ? std::vector{2, 4}
                                         : std::vector{2, 4, 8, 16, 32};
  p.searchers.push_back(1);
  std::sort(p.searchers.begin(), p.searchers.end());
  p.searchers.erase(std::unique(p.searchers.begin(), p.searchers.end()), p.searchers.end());
  p.side = or_usual(asked.side, 8), p.tours = or_usual(asked.tours, 64);
  p.changes = or_usual(asked.changes, 100'000);
  p.passes = or_usual(asked.passes, asked.quick ? 1 : 5);
  return p;
}

std::vector<cell> runs_of(const plan& p, int pass) {
  std::vector<cell> all;
  for (const int n : p.searchers) {
    if (n == 1) {
      all.push_back({"", "", 1, {}});
      continue;
    }
    for (const auto& organisation : p.organisations) {
      if (organisation == "apart") {
        all.push_back({organisation, "", n, {}});
        continue;
      }
      for (const auto& rule : p.rules)
        if (rule != "remaining" || organisation == "master")
          all.push_back({organisation, rule, n, {}});
    }
  }
  if (pass % 2 == 0) std::reverse(all.begin(), all.end());
  return all;
}

names command_of(const cell& run, const plan& p, int pass, const std::string& program) {
  const bool processes = !p.mpi.empty() && run.searchers > 1;
  names c;
  if (processes) {
    c.push_back(mpirun_of(p.mpi));
    if (p.mpi == "openmpi") c.insert(c.end(), {"--oversubscribe", "--bind-to", "none"});
    c.insert(c.end(), {"-n", std::to_string(run.searchers)});
  }
  c.insert(c.end(), {program, "--grid", std::to_string(p.side), "--tours", std::to_string(p.tours),
                     "--failures", std::to_string(p.changes), "--seed", std::to_string(pass),
                     "--json", "--workers", std::to_string(processes ? 1 : run.searchers)});
  if (run.organisation == "apart" || run.searchers == 1) c.emplace_back("--apart");
  if (run.organisation == "master") c.emplace_back("--master");
  if (!run.rule.empty()) c.insert(c.end(), {"--send", run.rule});
  return c;
}

measured run_study(const settings& asked, const listener& to) {
  const until_interrupted watching;
  return experiment(asked, to).run();
}

}  // namespace study::tours
