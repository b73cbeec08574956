// The command of a study that is made in passes (passes.hpp).
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "forecast.hpp"
#include "interrupt.hpp"
#include "page.hpp"
#include "support/command_line.hpp"

namespace study {

// What `Command` derives from. It has these functions, and its study's namespace has to_json and
// run_study:
//
//   read(file)         a study that is to go on
//   print(measured)    as tables
//   write(measured, folder)   all files
template <class Command, class Settings>
class passes_command {
public:
  passes_command(const passes_command&) = delete;
  bool given() const { return line_.parsed(); }
  // Returns the exit status.
  int run() {
    settings_.cleave = std::filesystem::read_symlink("/proc/self/exe");
    check_folder(folder_, files_);
    if (resume_) settings_.goes_on = Command::read(folder_ + "/" + files_[0]);
    forecast_line line{std::chrono::seconds(20)};
    const auto write = [this](const auto& so_far) { Command::write(so_far, folder_); };
    const auto m = run_study(settings_, {std::ref(line), write});
    if (json_) fmt::print("{}\n", to_json(m));
    else Command::print(m);
    apps::flush_output();
    write(m);
    if (!json_)
      fmt::print("\n{}{} of {} passes whole; written: {}/{}\n",
                 m.interrupted   ? "interrupted; "
                 : m.out_of_time ? "the time is over; "
                                 : "",
                 m.whole, m.what.passes, folder_, files());
    return m.interrupted ? 128 + interrupted_by() : 0;
  }

protected:
  // `files`: what write() writes; the first one is what read() reads.
  passes_command(apps::command_line& study, const char* name, const char* about,
                 std::vector<std::string> files)
      : line_(study, name, about), files_(std::move(files)) {}
  // These options all such commands have.
  void add_passes(const char* help) {
    line_.option_number("--passes", settings_.what.passes, 1, 1000, help);
    line_.option_number("--time-limit", settings_.time_limit, 1, 1'000'000,
                        "Seconds after which it ends with what there is (default: none)");
  }
  void add_output(const char* tables) {
    line_.option("--output,-o", "FOLDER", folder_,
                 fmt::format("Where {} go (default: here)", files()));
    line_.flag("--resume", resume_, "Go on with the study that is there, as it was begun");
    line_.flag("--json", json_, fmt::format("Print the data instead of {}", tables));
  }

  Settings settings_;
  apps::command_line line_;

private:
  // As in "a, b and c".
  std::string files() const {
    return fmt::format("{} and {}", fmt::join(files_.begin(), files_.end() - 1, ", "),
                       files_.back());
  }

  const std::vector<std::string> files_;
  std::string folder_ = ".";
  bool json_ = false, resume_ = false;
};

}  // namespace study
