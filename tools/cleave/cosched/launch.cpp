#include "cosched/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "elf.hpp"
#include "machine/trusted.hpp"
#include "support/command_line.hpp"

namespace cosched {
namespace {

namespace fs = std::filesystem;

fs::path found_in_path(const std::string& program) {
  const auto is_program = [](const fs::path& file) {
    std::error_code none;
    return access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, none);
  };
  if (program.find('/') != std::string::npos) return fs::path(is_program(program) ? program : "");
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (is_program(file)) return file;
  }
  return {};
}

/// Whether this is Open MPI's own launcher, and not srun for one.
bool is_orterun(const std::string& launcher) {
  std::error_code error;
  const std::string name = fs::canonical(found_in_path(launcher), error).filename();
  // If a parameter tells it which variables to pass, it accepts no others.
  return (name == "orterun" || name == "prterun") &&
         std::getenv("OMPI_MCA_mca_base_env_list") == nullptr;
}

// Whether a program has MPI in itself, linked statically: then no library stands in front of it.
bool contains_mpi(const fs::path& program) {
  bool found = false;
  elf::each_symbol(program, [&found](const Elf64_Sym&, const char* name, std::uint32_t table) {
    found = table == SHT_SYMTAB && std::strcmp(name, "PMPI_Init") == 0;
    return !found;
  });
  return found;
}

// The launcher's own words need not be known: none of them is such a program.
void check_programs(const std::vector<std::string>& command) {
  for (const std::string& word : command)
    if (contains_mpi(found_in_path(word)))
      throw apps::usage_error(
          fmt::format("COMMAND: '{}': expected a program with MPI as a shared library, got one "
                      "that contains it",
                      word));
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

}  // namespace

std::string mpi_of(const std::string& launcher) {
  std::error_code error;
  const fs::path file = fs::canonical(found_in_path(launcher), error);
  if (error) return {};
  const std::string name = file.filename(), whole = file;
  auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  if (has(name, "hydra") || has(whole, "mpich")) return "mpich";
  if (has(name, "orterun") || has(name, "prterun") || has(whole, "openmpi")) return "openmpi";
  return {};
}

std::vector<fs::path> library_folders(const fs::path& command) {
  return {command.parent_path() / "lib",
          (command / CLEAVE_PLUGINS_FROM_COMMAND).lexically_normal()};
}

std::vector<std::string> with_library(const preloading& what,
                                      const std::vector<fs::path>& folders) {
  const std::string& program = what.command.front();
  const std::string mpi = what.mpi.empty() ? mpi_of(program) : what.mpi;
  if (found_in_path(program).empty())
    throw apps::usage_error(fmt::format("COMMAND: expected a program, got '{}'", program));
  if (mpi.empty())
    throw apps::usage_error(fmt::format(
        "COMMAND: '{}' does not tell its MPI: give --mpi openmpi or --mpi mpich", program));
  const std::string name = "libcleave-" + what.library + "-" + mpi + ".so";
  const auto has = [&](const fs::path& folder) { return fs::exists(folder / name); };
  const auto found = std::find_if(folders.begin(), folders.end(), has);
  if (found == folders.end())
    throw apps::usage_error(fmt::format("--mpi: this build has nothing for {}: no {}", mpi,
                                        (folders.back() / name).string()));
  const fs::path library = *found / name;
  if (library.string().find_first_of(" :") != std::string::npos)
    throw apps::usage_error(
        fmt::format("{}: expected a path without blanks and colons, at which LD_PRELOAD is cut",
                    library.string()));
  check_programs(what.command);
  if (const auto why = cleave::machine::why_not_trusted(library.string()); !why.empty())
    throw apps::usage_error(fmt::format("not preloaded: {}: {}", library.string(), why));
  const char* const others = std::getenv("LD_PRELOAD");
  const bool alone = others == nullptr || *others == '\0';
  set("LD_PRELOAD", library.string() + (alone ? "" : std::string(":") + others));
  std::vector<std::string> words = what.command;
  if (!is_orterun(program)) return words;
  // Open MPI's launcher passes to other nodes only what it is told to; MPICH's passes everything.
  std::vector<std::string> passed{"-x", "LD_PRELOAD"};
  for (const std::string& variable : what.variables)
    if (std::getenv(variable.c_str()) != nullptr) passed.insert(passed.end(), {"-x", variable});
  // If there are several programs, each has options of its own.
  for (std::size_t at = 0; at < words.size(); ++at)
    if (at == 0 || words[at] == ":") {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, passed.begin(),
                   passed.end());
      at += passed.size();
    }
  return words;
}

void launch(const job& what, const std::vector<fs::path>& folders) {
  if (!what.policy.empty()) set("CLEAVE_COSCHED_POLICY", what.policy);
  if (what.spin >= 0) set("CLEAVE_COSCHED_SPIN", std::to_string(what.spin));
  if (what.free_spin >= 0) set("CLEAVE_COSCHED_FREE_SPIN", std::to_string(what.free_spin));
  if (what.turn >= 0) set("CLEAVE_COSCHED_TURN", std::to_string(what.turn));
  if (!what.report.empty()) set("CLEAVE_COSCHED_REPORT", what.report);
  auto words =
      with_library({"cosched",
                    what.mpi,
                    what.command,
                    {"CLEAVE_COSCHED_POLICY", "CLEAVE_COSCHED_SPIN", "CLEAVE_COSCHED_FREE_SPIN",
                     "CLEAVE_COSCHED_TURN", "CLEAVE_COSCHED_REPORT"}},
                   folders);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw apps::usage_error(
      fmt::format("COMMAND: '{}': {}", what.command.front(), std::strerror(errno)));
}

}  // namespace cosched
