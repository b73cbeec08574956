// A study of short runs, in turn, in passes: what `cleave study` net, tsp and md have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "background.hpp"
#include "forecast.hpp"
#include "interrupt.hpp"
#include "measured.hpp"
#include "read_all.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace study {

// What a study is started with. `Choice` is what was asked for, `Measured` what it gives.
template <class Choice, class Measured>
struct settings_of_passes {
  std::filesystem::path cleave;  // this command; the programs are beside it
  Choice what;
  std::optional<Measured> goes_on;  // a study that was ended early; `what` does not count then
  int time_limit = 0;               // seconds; 0: none
};

template <class Measured>
struct listener_to_passes {
  std::function<void(const step&)> begins;    // called before each run, and once at the end
  std::function<void(const Measured&)> keep;  // told what there is so far, after each pass
};

// A cell of `to` that is the same as `one`, to which its values are to be added; null if there was
// none: then `one` is in there.
template <class Cell>
Cell* same_cell(std::vector<Cell>& to, const Cell& one) {
  const auto at =
      std::find_if(to.begin(), to.end(), [&one](const Cell& c) { return c.is_same(one); });
  if (at != to.end()) return &*at;
  to.push_back(one);
  return nullptr;
}

// The passes of a study, which has these functions:
//
//   runs(pass)            the runs of a pass, in their order
//   name(run)             of the run for the user; runs of one name take about as long
//   is_left_out(run)      whether it has failed before
//   measure(run, pass)    its cells; throws if the study is interrupted or its time is over
//   add(cells, cell)      adds what a run has given to what others have
//   so_far()              what there is
//   why_nothing()         why nothing was measured
//
// What a pass has measured counts when all of it is there: so passes are the same for all cells,
// and a study that goes on measures nothing twice.
template <class Study, class Measured>
class passes {
public:
  // On SIGINT, SIGTERM and after the time limit it returns what there is. Throws std::runtime_error
  // if nothing was measured.
  Measured run() {
    try {
      while (m_.whole < m_.what.passes) run_pass();
    } catch (const out_of_time&) { m_.out_of_time = true; } catch (const std::runtime_error&) {
      if (!is_interrupted()) throw;
      m_.interrupted = true;
    }
    to_->begins({1, 1, 0, ""});
    machine_.measure_capacity();
    if (m_.cells.empty())
      throw std::runtime_error(m_.interrupted ? "interrupted before anything was measured"
                                              : study().why_nothing());
    return study().so_far();
  }

protected:
  template <class Choice>
  passes(const settings_of_passes<Choice, Measured>& asked, const listener_to_passes<Measured>& to)
      : to_(&to) {
    if (asked.time_limit > 0) last_ = clock::now() + std::chrono::seconds(asked.time_limit);
    if (!asked.goes_on) return;
    m_ = *asked.goes_on;
    m_.interrupted = m_.out_of_time = false;
    if (m_.whole == 0) m_.cells.clear();
  }
  // Called when `m_` has its plan.
  void begin() {
    m_.date = today();
    machine_.measure_capacity();
  }

  // These serve a study whose runs are cells, and which notes the ones that have failed.

  // What measure() gives for a run; nothing if it fails, which is noted.
  template <class Cell, class Measure>
  std::vector<Cell> measured_or_failed(const Cell& run, Measure measure) {
    try {
      return measure();
    } catch (const out_of_time&) { throw; } catch (const std::exception& e) {
      if (is_interrupted()) throw;
      std::string reason = e.what();
      std::replace(reason.begin(), reason.end(), '\n', ' ');
      m_.failures.push_back({run, reason});
      return {};
    }
  }
  template <class Cell>
  bool has_failed(const Cell& run) const {
    return std::any_of(m_.failures.begin(), m_.failures.end(),
                       [&run](const auto& f) { return f.of.is_same(run); });
  }
  std::string first_failure() const {
    return m_.failures.empty() ? "the time was over before anything was measured"
                               : m_.failures[0].reason;
  }
  // A study that goes on has to be of this machine. Throws apps::usage_error.
  void require_same_processor() const {
    if (m_.machine != apps::processor())
      throw apps::usage_error(
          fmt::format("--resume: expected a study of this machine, got one of '{}'", m_.machine));
  }

  Measured m_;
  deadline last_ = deadline::max();
  background_watch machine_;

private:
  using clock = std::chrono::steady_clock;
  Study& study() { return static_cast<Study&>(*this); }

  // About the seconds that are left, as far as runs have been seen.
  template <class Run>
  double left(const std::vector<Run>& all, std::size_t from) {
    double sum = 0, pass = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto known = took_.find(study().name(all[i]));
      const double one = known == took_.end() ? 0 : known->second;
      pass += one;
      if (i >= from) sum += one;
    }
    return sum + pass * (m_.what.passes - m_.whole - 1);
  }

  void run_pass() {
    const int pass = m_.whole + 1;
    const auto all = study().runs(pass);
    decltype(m_.cells) found;
    const auto keep = [&] {
      for (const auto& c : found) study().add(m_.cells, c);
    };
    try {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const int of_pass = static_cast<int>(all.size());
        const std::string name = study().name(all[i]);
        to_->begins({m_.whole * of_pass + static_cast<int>(i), m_.what.passes * of_pass,
                     left(all, i), name});
        if (study().is_left_out(all[i])) continue;
        const auto begin = clock::now();
        for (auto& c : study().measure(all[i], pass)) found.push_back(std::move(c));
        took_[name] = std::chrono::duration<double>(clock::now() - begin).count();
      }
    } catch (...) {
      if (m_.whole == 0) keep();  // better than nothing
      throw;
    }
    keep();
    ++m_.whole;
    to_->keep(study().so_far());
  }

  const listener_to_passes<Measured>* to_;
  std::map<std::string, double> took_;  // seconds of the last run of each name
};

}  // namespace study
