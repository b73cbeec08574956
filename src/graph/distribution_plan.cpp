#include <cleave/detail/graph/distribution.hpp>
#include <cleave/team.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "core/pool.hpp"
#include "core/worker.hpp"
#include "graph/placement.hpp"
#include "graph/recorded_graph.hpp"
#include "graph/recorder.hpp"
#include "graph/schedule.hpp"
#include "machine/saved_file.hpp"

// The plan of a graph of a team: where it comes from, and how it is recorded.
namespace cleave::detail {

namespace {

std::terminate_handler terminates_otherwise = nullptr;

/// A program that catches no plan_error ends as it does for other bad input: by a line and status
/// 2, and not by a signal.
[[noreturn]] void end_by_a_line() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const plan_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::fflush(nullptr);
    std::_Exit(2);
  } catch (...) {}  // an exception of another type
  terminates_otherwise();
  std::abort();
}

[[noreturn]] void refuse(const std::string& why) {
  static const bool once = (terminates_otherwise = std::set_terminate(end_by_a_line), true);
  static_cast<void>(once);
  throw plan_error("cleave::team_graph: " + why);
}

}  // namespace

void distribution::open_plan() {
  made_.all.add(entry::plan);
  if (rank() != 0) {
    tell(0, begin(kind::opens));  // the first node notices if it has no such graph
    await([&] { return planning_.told.has_value(); });
    return use_plan(*planning_.told);
  }
  const auto told = read_plan();
  auto message = begin(kind::plan);
  byte_writer(message).raw(told.data(), told.size());
  for (unsigned to = 1; to < size(); ++to) node_.send(to, message);
  if (size() > 1) node_.flush();
  use_plan(told);
}

std::vector<std::byte> distribution::read_plan() const {
  std::vector<std::byte> told;
  byte_writer w(told);
  try {
    if (!std::filesystem::is_regular_file(planning_.file)) {
      machine::require_writable(planning_.file);
      w.put(static_cast<std::uint8_t>(plan_kind::recorded));
    } else {
      const recorded_graph g = read_recorded_graph(planning_.file);
      if (g.of_ranks)
        throw std::runtime_error(planning_.file +
                                 ": expected a graph of a team, got a run of an MPI program");
      const machine_model on{size(), graph_.owner->of.size(), g.messages};
      const placement_plan plan(g, best_schedule(g, on));
      w.put(static_cast<std::uint8_t>(plan_kind::followed));
      plan.put(w);
    }
  } catch (const std::exception& e) {
    told.clear();
    w.put(static_cast<std::uint8_t>(plan_kind::cannot_be_used));
    w.put_text(e.what());
  }
  return told;
}

void distribution::use_plan(std::span<const std::byte> told) {
  byte_reader r(told);
  switch (static_cast<plan_kind>(r.get<std::uint8_t>())) {
    case plan_kind::cannot_be_used: refuse(r.get_text());
    case plan_kind::recorded: {
      auto made = std::make_unique<recorder>(rank(), size(), graph_.owner->of.size());
      const std::lock_guard lock(node_.mutex);
      planning_.recording = std::move(made);
      return;
    }
    case plan_kind::followed: planning_.plan = std::make_unique<placement_plan>(r, size()); return;
  }
  r.fail("a kind of plan");
}

/// The first node has all that was measured, before it agrees that all is done.
void distribution::gather_measured() {
  if (rank() != 0) {
    auto message = begin(kind::measured);
    byte_writer w(message);
    planning_.recording->put_measured(w);
    node_.send(0, message);
    return node_.flush();
  }
  await([&] { return planning_.measured.size() >= size() - 1; });
  std::vector<std::vector<std::byte>> all;
  {
    const std::lock_guard lock(node_.mutex);
    all.swap(planning_.measured);
  }
  for (const auto& contents : all) {
    byte_reader r(contents);
    planning_.recording->add(r);
  }
}

void distribution::close_plan() noexcept try {
  if (rank() != 0 || planning_.file.empty()) return;
  if (planning_.recording != nullptr && !planning_.recording->is_whole())
    throw std::runtime_error(planning_.file +
                             ": not written: wait() did not see all subtasks done");
  if (planning_.recording != nullptr)
    write_recorded_graph(planning_.recording->result(), planning_.file);
  if (planning_.plan != nullptr && planning_.plan->differs_at())
    std::fprintf(stderr,
                 "cleave: %s: it is the plan of another graph: from subtask %zu on it was not "
                 "followed\n",
                 planning_.file.c_str(), std::size_t{*planning_.plan->differs_at()});
} catch (const std::exception& e) { machine::report_loss("cleave", e); }

}  // namespace cleave::detail
