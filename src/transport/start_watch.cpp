#include "transport/start_watch.hpp"

#include "machine/settings.hpp"
#include "machine/without_signals.hpp"

#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace cleave::net {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds look_every{1};

/// Empty also if it may not be read, or if its process has ended meanwhile.
std::string text_of(const fs::path& file) try {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
} catch (const std::ios_base::failure&) { return {}; }

started_rank rank_of(const fs::path& process) {
  return read_started_rank(text_of(process / "environ"));
}

/// What follows the name in /proc/<pid>/stat: the state, and who has started it.
bool read_stat(const fs::path& process, char& state, int& parent) {
  const std::string text = text_of(process / "stat");
  const std::size_t name_ends = text.rfind(')');
  return name_ends != text.npos &&
         std::sscanf(text.c_str() + name_ends + 1, " %c %d", &state, &parent) == 2;
}

/// Whether this process can see beyond its own rank: otherwise the others may be hidden, too, as
/// where each rank is a container of its own.
bool sees_its_launcher(const started_rank& own) {
  for (int pid = getppid(); pid > 0;) {
    const fs::path process = "/proc/" + std::to_string(pid);
    const started_rank of = rank_of(process);
    if (of.job != own.job || of.host_rank != own.host_rank) return true;
    char state = 0;
    if (!read_stat(process, state, pid)) return false;
  }
  return false;
}

}  // namespace

started_rank read_started_rank(std::string_view environment) {
  started_rank found;
  while (!environment.empty()) {
    const std::string_view one = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(one.size() + 1, environment.size()));
    const auto value_of = [&](std::string_view name) {
      return one.starts_with(name) ? one.substr(name.size()) : std::string_view();
    };
    if (const auto job = value_of("PMIX_NAMESPACE="); !job.empty()) found.job = job;
    if (const auto n = value_of("OMPI_COMM_WORLD_LOCAL_RANK="); !n.empty())
      std::from_chars(n.data(), n.data() + n.size(), found.host_rank);
  }
  return found;
}

std::set<int> ranks_gone(const started_rank& own, int host_ranks) {
  if (own.job.empty() || own.host_rank < 0 || !sees_its_launcher(own)) return {};
  std::set<int> gone;
  for (int i = 0; i < host_ranks; ++i) gone.insert(i);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    char state = 0;
    int parent = 0;
    if (!read_stat(entry.path(), state, parent) || state == 'Z' || state == 'X') continue;
    const started_rank of = rank_of(entry.path());
    if (of.job == own.job) gone.erase(of.host_rank);
  }
  if (error || gone.contains(own.host_rank)) return {};
  return gone;
}

std::chrono::seconds start_watch::patience() {
  return std::chrono::seconds(machine::environment("CLEAVE_START_PATIENCE", 1, 86'400, 30));
}

start_watch::start_watch(const launch& mine, std::chrono::seconds patience) {
  const machine::without_signals blocked;
  thread_ = std::thread([this, mine, patience] { watch(mine, patience); });
}

start_watch::~start_watch() {
  {
    const std::lock_guard lock(mutex_);
    is_started_ = true;
  }
  started_.notify_one();
  thread_.join();
}

void start_watch::watch(const launch& mine, std::chrono::seconds patience) {
  const started_rank own = read_started_rank(text_of("/proc/self/environ"));
  bool said = false;
  std::unique_lock lock(mutex_);
  while (!started_.wait_for(lock, said ? look_every : patience, [this] { return is_started_; })) {
    const auto gone = ranks_gone(own, mine.host_ranks);
    int first_here = 0;  // the first rank that is there speaks for its host, and ends the job
    while (gone.contains(first_here)) ++first_here;
    if (mine.host_rank != first_here || (std::exchange(said, true) && gone.empty())) continue;
    std::string of_gone;
    for (const int rank : gone) {
      of_gone += of_gone.empty() ? "" : ", ";
      of_gone += std::to_string(rank);
    }
    if (!gone.empty()) {
      const std::string ranks = std::to_string(mine.host_ranks);
      of_gone.insert(0, "; of the " + ranks + " on this host, counted from 0, gone: ");
      of_gone += "; the job ends";
    }
    std::fprintf(stderr,
                 "cleave: MPI has not started for %lld s: rank %d waits for all%s%s ranks%s\n",
                 static_cast<long long>(patience.count()), mine.rank, mine.ranks == 0 ? "" : " ",
                 mine.ranks == 0 ? "" : std::to_string(mine.ranks).c_str(), of_gone.c_str());
    // Before MPI is up that ends all ranks. MPI_Abort() may not be called yet, and whoever waits in
    // MPI_Init() does not return.
    if (!gone.empty()) _exit(1);
  }
}

}  // namespace cleave::net
