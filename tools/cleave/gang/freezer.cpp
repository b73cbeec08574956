#include "gang/freezer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "support/command_line.hpp"

namespace gang {
namespace {

namespace fs = std::filesystem;

// Adds the children of all threads of a process; nothing where the kernel keeps no such lists.
void add_children_of(pid_t process, std::vector<pid_t>& to) {
  std::error_code error;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child; file >> child;) to.push_back(child);
  }
}

std::vector<pid_t> listed_descendants() {
  std::vector<pid_t> found{getpid()};
  for (std::size_t i = 0; i < found.size(); ++i) add_children_of(found[i], found);
  found.erase(found.begin());
  return found;
}

// The descendants by the kernel's lists of children, which are quick to read: all of /proc takes
// milliseconds where there are thousands of processes. The lists may lack some while others end,
// and are whole when all are stopped. Some kernels have none.
class signals : public freezer {
public:
  std::string kind() const override { return "signals"; }
  bool enter() override { return true; }
  void stop() override { begin(SIGSTOP); }
  void go() override { begin(SIGCONT); }
  void finish() override {
    if (!has_lists_) signal_descendants(signal_, sent_);
    else if (signal_ == SIGSTOP) send();  // processes that go on were found when they were stopped
  }

private:
  void begin(int signal) {
    signal_ = signal;
    sent_.clear();
    send();
  }
  // Sends the signal. Processes that stop may have had children meanwhile, so they are listed
  // again. Those that go on have children all the time, and were all stopped when they were listed.
  void send() {
    bool more;
    do {
      more = false;
      for (const pid_t process : listed_descendants())
        if (sent_.insert(process).second) more = true, kill(process, signal_);
    } while (more && signal_ == SIGSTOP);
  }
  const bool has_lists_ = access("/proc/thread-self/children", R_OK) == 0;
  int signal_ = 0;
  std::set<pid_t> sent_;
};

// A cgroup below the one that the keeper is in, so that what limits the keeper limits its job.
class cgroup : public freezer {
public:
  cgroup(std::string kind, fs::path folder, std::string file, std::string stop, std::string go)
      : kind_(std::move(kind)),
        folder_(std::move(folder)),
        file_(std::move(file)),
        stop_(std::move(stop)),
        go_(std::move(go)) {}
  ~cgroup() override { remove(); }
  std::string kind() const override { return kind_; }
  bool enter() override { return write("cgroup.procs", "0"); }
  void stop() override { write(file_, stop_); }
  void go() override { write(file_, go_); }
  void remove() final { rmdir(folder_.c_str()); }

private:
  bool write(const std::string& file, const std::string& text) const {
    std::ofstream out(folder_ / file);
    return static_cast<bool>(out << text << std::flush);
  }
  std::string kind_;
  fs::path folder_;
  std::string file_, stop_, go_;
};

// The cgroup that this process is in, in the hierarchy with this controller; "" stands for version
// 2.
std::string own_cgroup(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // 6:freezer:/path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names == "," + controller + "," || names.find("," + controller + ",") != std::string::npos)
      return line.substr(second + 1);
  }
  return {};
}

std::unique_ptr<freezer> make_cgroup(const std::string& kind) {
  const bool second = kind == "cgroup2";
  const std::string own = own_cgroup(second ? "" : "freezer");
  if (own.empty()) return nullptr;
  const std::string file = second ? "cgroup.freeze" : "freezer.state";
  for (const fs::path mount : {second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/freezer",
                               second ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup/freezer"}) {
    const fs::path parent = mount / fs::path(own).relative_path();
    const fs::path folder = parent / fmt::format("cleave-gang-{}", getpid());
    std::error_code error;
    // A process that moves another must be allowed to write where that one comes from, too.
    if (access((parent / "cgroup.procs").c_str(), W_OK) != 0) continue;
    rmdir(folder.c_str());  // a killed process of the same number may have left it
    if (!fs::create_directory(folder, error)) continue;
    if (access((folder / file).c_str(), W_OK) == 0)
      return std::make_unique<cgroup>(kind, folder, file, second ? "1" : "FROZEN",
                                      second ? "0" : "THAWED");
    fs::remove(folder, error);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<freezer> freezer::make(const std::string& kind) {
  for (const std::string name : {"cgroup2", "cgroup1"}) {
    if (!kind.empty() && kind != name) continue;
    if (auto made = make_cgroup(name)) return made;
  }
  if (kind.empty() || kind == "signals") return std::make_unique<signals>();
  throw apps::usage_error(fmt::format("--stop-by: there is no {} here for this user", kind));
}

// Reads /proc/PID/stat, where the name before the number may contain anything.
pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const auto end_of_name = text.rfind(") ");
  if (end_of_name == std::string::npos || end_of_name + 4 >= text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + end_of_name + 4, text.data() + text.size(), parent);
  return parent;
}

std::vector<pid_t> descendants() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    std::from_chars(name.data(), name.data() + name.size(), process);
    if (process != 0) children.emplace(parent_of(process), process);
  }
  std::vector<pid_t> found{getpid()};
  for (std::size_t i = 0; i < found.size(); i++) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

void signal_descendants(int signal, std::set<pid_t> sent) {
  // Processes that do not stop for the signal may have children for ever.
  constexpr int most_times = 8;
  bool more = true;
  for (int i = 0; more && (signal == SIGSTOP || i < most_times); ++i) {
    more = false;
    for (const pid_t process : descendants())
      if (sent.insert(process).second) {
        more = true;
        kill(process, signal);
      }
  }
}

}  // namespace gang
