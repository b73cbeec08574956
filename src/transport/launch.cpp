#include "transport/launch.hpp"

#include "machine/cpus.hpp"
#include "machine/settings.hpp"
#include "machine/trusted.hpp"
#include "transport/plugin.hpp"
#include "transport/start_watch.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace cleave::net {
namespace {

namespace fs = std::filesystem;

class environment_of {
public:
  explicit environment_of(const char* (*get)(const char*)) : get_(get) {}

  std::string_view text(const char* name) const {
    const char* const found = get_(name);
    return found != nullptr ? found : "";
  }
  bool has(const char* name) const { return !text(name).empty(); }

  /// The first of these that is a number.
  template <class... Names>
  int number(int otherwise, const Names*... names) const {
    int n = otherwise;
    (void)(... || parse(names, n));
    return n;
  }

private:
  bool parse(const char* name, int& n) const {
    const std::string_view digits = text(name);
    int found = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found);
    if (error != std::errc{} || end != digits.data() + digits.size() || found < 0) return false;
    n = found;
    return true;
  }

  const char* (*get_)(const char*);
};

const char* of_this_process(const char* name) { return std::getenv(name); }

/// Open MPI 5 names its version; its predecessors and a plain PMIx do not.
std::vector<std::string> open_mpi(const environment_of& env) {
  const std::string_view version = env.text("OMPI_VERSION");
  const std::string_view major = version.substr(0, version.find('.'));
  if (major.empty()) return {"openmpi", "openmpi5"};
  return {"openmpi" + std::string(major), "openmpi"};
}

std::string file_of(const std::string& plugin) {
  return (plugin == "nats" ? "libcleave-" : "libcleave-mpi-") + plugin + ".so";
}
/// MPI is loaded globally: parts of it that it loads itself look for its symbols.
int how_to_load(const std::string& plugin) {
  return RTLD_NOW | (plugin == "nats" ? RTLD_LOCAL : RTLD_GLOBAL);
}

std::string named_folder() {
  const char* const set = std::getenv("CLEAVE_PLUGINS");
  return set != nullptr && *set != '\0' ? fs::absolute(set).string() : "";
}

/// Loads a plug-in by its whole path: a name alone would be looked for wherever LD_LIBRARY_PATH
/// says, and that is the working folder too where one of its parts is empty.
void* load(const std::vector<std::string>& plugins) {
  const auto folders = plugin_folders();
  for (const std::string& name : plugins) {
    for (const std::string& folder : folders) {
      const fs::path file = fs::path(folder) / file_of(name);
      std::error_code error;
      if (!fs::exists(file, error)) continue;
      if (const auto why = machine::why_not_trusted(file.string()); !why.empty())
        throw std::runtime_error("not loaded: " + file.string() + ": " + why);
      if (void* const library = dlopen(file.c_str(), how_to_load(name))) return library;
      throw std::runtime_error(std::string("cannot load ") + dlerror());
    }
  }
  std::string where;
  for (const std::string& folder : folders) where += (where.empty() ? "" : ", ") + folder;
  const std::string line =
      "no plug-in " + file_of(plugins.front()) + " in " + where +
      " (CLEAVE_PLUGINS names its folder" +
      (plugins.front() == "nats" ? ")" : "; --transport none runs each rank alone)");
  if (named_folder().empty()) throw std::runtime_error(line);
  throw std::invalid_argument(line);
}

std::vector<std::string> chosen_plugins(const std::string& name) {
  const launch& mine = launched();
  if (name == "none" || (name.empty() && !mine.several())) return {};
  if (!name.empty() && name != "mpi") return {name};
  if (mine.plugins.empty())
    throw std::invalid_argument(
        "--transport mpi: expected to be started by mpirun or srun --mpi=pmix, which left nothing "
        "in the "
        "environment");
  return mine.several() ? mine.plugins : std::vector<std::string>{};
}

}  // namespace

launch read_launch(const char* (*get)(const char*)) {
  const environment_of env(get);
  launch found;
  if (env.text("CLEAVE_TRANSPORT") == "nats" || env.has("CLEAVE_JOB")) {
    found.plugins = {"nats"};
    found.rank = env.text("CLEAVE_NODE") == "0" ? 0 : 1;
    found.ranks = 0;
    found.comes_and_goes = true;
    return found;
  }
  const bool slurm = env.has("SLURM_STEP_ID");
  if (env.has("OMPI_COMM_WORLD_SIZE") || env.has("PMIX_RANK")) {
    found.plugins = open_mpi(env);
  } else if (env.has("PMI_RANK")) {
    found.plugins = {"mpich"};
  } else {
    return found;
  }
  // An allocation's own variables are those of its batch script; a step's count.
  const char* const slurm_ranks = slurm ? "SLURM_STEP_NUM_TASKS" : "";
  found.rank = env.number(0, "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK");
  found.ranks = env.number(0, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", slurm_ranks);
  found.host_rank = env.number(0, "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID");
  found.host_ranks = env.number(0, "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS");
  return found;
}

const launch& launched() {
  // Never destroyed: a task may call exit() while others run.
  static const launch& mine = *new launch(read_launch(&of_this_process));
  return mine;
}

namespace {
std::atomic<bool> separated{false};
const auto process_begun = std::chrono::steady_clock::now();
}  // namespace
void separate() noexcept { separated = true; }

bool is_first_rank() {
  static const bool by_environment =
      environment_of(&of_this_process).text("CLEAVE_TRANSPORT") == "none";
  return launched().rank == 0 || by_environment || separated;
}

bool tells_mistakes() {
  const launch& mine = launched();
  return is_first_rank() || mine.comes_and_goes || mine.rank != mine.host_rank;
}

void await_turn_to_end() {
  using namespace std::chrono_literals;
  const launch& mine = launched();
  // A node that comes and goes is alone with what went wrong.
  if (mine.comes_and_goes) return;
  // Open MPI 4.1's launcher may hang for ever if a rank fails before it has started all of them.
  if (mine.host_ranks > 1)
    std::this_thread::sleep_until(process_begun + std::min(mine.host_ranks * 50ms, 5'000ms));
  if (!is_first_rank()) std::this_thread::sleep_for(500ms);
}

void end_all_ranks(std::string_view line, int status) {
  await_turn_to_end();
  if (tells_mistakes())
    std::fprintf(stderr, "cleave: %.*s\n", static_cast<int>(line.size()), line.data());
  std::exit(status);
}

std::optional<std::string> take_serve(int& argc, char** argv) {
  return machine::take_text(argc, argv, "--serve", "a key file or the URL of a relay");
}

std::string take_transport(int& argc, char** argv) {
  if (const auto given = machine::take_text(argc, argv, "--transport", "a name")) {
    check_transport("--transport", *given);
    return *given;
  }
  const char* const set = std::getenv("CLEAVE_TRANSPORT");
  const std::string name = set != nullptr ? set : "";
  if (!name.empty()) check_transport("CLEAVE_TRANSPORT", name);
  return name;
}

void check_transport(std::string_view said_by, const std::string& name) {
  constexpr std::string_view known[] = {"mpi", "openmpi", "mpich", "nats", "none"};
  // Another one of a kind has its version in its name (cmake/mpi.cmake).
  const std::string_view kind(name.data(), name.find_last_not_of("0123456789") + 1);
  const bool may_be_another = kind == "openmpi" || kind == "mpich";
  if (may_be_another || std::find(std::begin(known), std::end(known), name) != std::end(known))
    return;
  throw std::invalid_argument(std::string(said_by) +
                              ": expected mpi, openmpi, openmpi5, mpich, nats or none, got '" +
                              name + "'");
}

void serve(const serve_settings& what) {
  void* const library = load({"nats"});
  const auto begin = reinterpret_cast<serve_function*>(dlsym(library, serve_function_name));
  if (begin == nullptr) throw std::runtime_error(std::string("no plug-in of Cleave: ") + dlerror());
  std::string error;
  const int status = begin(plugin_version, what, error);
  if (status == 0) return;
  if (status == 2) throw std::invalid_argument(error);
  throw std::runtime_error(error);
}

std::vector<std::string> plugin_folders() {
  if (const std::string named = named_folder(); !named.empty()) return {named};
  std::vector<std::string> folders;
  auto add = [&](const fs::path& folder) {
    const std::string name = folder.lexically_normal().string();
    if (std::find(folders.begin(), folders.end(), name) == folders.end()) folders.push_back(name);
  };
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    add(program.parent_path() / ".." / CLEAVE_LIBDIR / "cleave");
    add(program.parent_path() / "../lib/cleave");
    add(program.parent_path() / "../lib");
  }
  static const char in_this_library = 0;
  const fs::path library = machine::mapped_file(&in_this_library);
  if (!library.empty() && library != program) add(library.parent_path() / "cleave");
  add(CLEAVE_PLUGIN_FOLDER);
  return folders;
}

std::unique_ptr<transport> open_transport(const transport_choice& choice) {
  const auto plugins = chosen_plugins(choice.name);
  if (plugins.empty()) return nullptr;
  void* const library = load(plugins);
  const auto open = reinterpret_cast<open_function*>(dlsym(library, open_function_name));
  if (open == nullptr) throw std::runtime_error(std::string("no plug-in of Cleave: ") + dlerror());

  const launch& mine = launched();
  transport_settings settings;
  settings.ranks = mine.ranks;
  settings.workers = static_cast<unsigned>(choice.workers);
  settings.asked_workers = static_cast<unsigned>(choice.asked_workers);
  settings.spin = mine.host_ranks != 0 &&
                  mine.host_ranks * std::max(1, choice.workers) < machine::usable_cpus();
  open_failure why;
  std::optional<start_watch> watch;  // nodes behind a relay do not wait for each other
  if (plugins.front() != "nats") watch.emplace(mine, start_watch::patience());
  std::unique_ptr<transport> opened(open(plugin_version, settings, why));
  if (opened) return opened;
  if (why.by_setting) throw std::invalid_argument(why.line);
  throw std::runtime_error(why.line);
}

}  // namespace cleave::net
