#include "machine/saved_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace cleave::machine {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> status_of(const std::string& file) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0) return std::nullopt;
  return s;
}

std::string folder_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// The file that links lead to, whether it is there or not.
std::string followed(const std::string& file) {
  constexpr int most_links = 40;  // as many as the kernel follows
  std::error_code error;
  fs::path to = file;
  for (int links = 0; links < most_links && fs::is_symlink(to, error); ++links)
    to = to.parent_path() / fs::read_symlink(to, error);
  return to.string();
}

/// Standard output, or standard error, if the file is what it leads to: -1 otherwise. Opened a
/// second time, each would write over what the other has written.
int own_descriptor(const struct stat& file) {
  for (const int own : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat s {};
    if (fstat(own, &s) == 0 && s.st_dev == file.st_dev && s.st_ino == file.st_ino) return own;
  }
  return -1;
}

bool may(const std::string& file, int what) {
  return faccessat(AT_FDCWD, file.c_str(), what, AT_EACCESS) == 0;
}

std::string complaint(const std::string& file, int error) {
  return file + ": cannot be written: " + std::generic_category().message(error);
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace

saved_file::saved_file(const std::string& file, kind what)
    : name_(file), durable_(what != kind::output) {
  const int descriptor = open(what);
  if (descriptor >= 0) stream_ = fdopen(descriptor, "w");
  if (stream_ == nullptr) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    fail(error);
  }
}

saved_file::~saved_file() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (!unfinished_.empty()) unlink(unfinished_.c_str());
}

void saved_file::keep() {
  bool good = std::fflush(stream_) == 0 && std::ferror(stream_) == 0;
  if (good && durable_) good = fsync(fileno(stream_)) == 0;
  int error = errno;
  if (std::fclose(std::exchange(stream_, nullptr)) != 0 && good) good = false, error = errno;
  const bool in_its_place = target_ == unfinished_;
  if (good && !unfinished_.empty() && !in_its_place)
    good = std::rename(unfinished_.c_str(), target_.c_str()) == 0, error = errno;
  if (!good) fail(error);
  unfinished_.clear();
}

/// Called by the constructor too, which no destructor follows.
void saved_file::fail(int error) {
  if (!unfinished_.empty()) unlink(std::exchange(unfinished_, {}).c_str());
  throw std::runtime_error(complaint(name_, error));
}

/// Returns -1 with errno if that fails.
int saved_file::open(kind what) {
  constexpr int how = O_WRONLY | O_CLOEXEC | O_NOCTTY;
  if (what == kind::new_secret) {
    const int made = ::open(name_.c_str(), how | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (made >= 0) unfinished_ = target_ = name_;
    return made;
  }
  const auto old = status_of(name_);
  if (old) {
    const int own = own_descriptor(*old);
    if (own >= 0) return fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (!S_ISREG(old->st_mode)) return ::open(name_.c_str(), how);
    if (!may(name_, W_OK)) return -1;
  }
  if (!old && errno != ENOENT) return -1;
  target_ = followed(name_);
  signals_.delay_those_of_users();
  const int made = open_beside(what);
  if (made < 0 && old && (errno == EACCES || errno == EPERM || errno == EROFS))
    return ::open(name_.c_str(), how | O_TRUNC);
  return made;
}

int saved_file::open_beside(kind what) {
  static std::atomic<unsigned> number{0};
  constexpr std::size_t most_of_name = 200;  // a name has 255 bytes at most
  const std::string name = fs::path(target_).filename().string().substr(0, most_of_name);
  const mode_t mode = what == kind::output ? 0666 : 0600;
  int made = -1;
  do {
    unfinished_ = (fs::path(target_).parent_path() / name).string() + ".part" +
                  std::to_string(getpid()) + "-" + std::to_string(++number);
    made = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (made < 0 && errno == EEXIST);  // left by a process of that number that was killed
  if (made < 0) return unfinished_.clear(), made;
  const auto old = status_of(target_);
  if (what != kind::output || !old) return made;
  const bool as_it_was =
      fchown(made, old->st_uid, old->st_gid) == 0 && fchmod(made, old->st_mode & 0777) == 0;
  if (as_it_was) return made;
  close(made);  // another user's file that this one may write
  unlink(std::exchange(unfinished_, {}).c_str());
  errno = EPERM;
  return -1;
}

/// Writing would raise these signals, and end the process.
saved_file::delayed_signals::delayed_signals() noexcept {
  const sigset_t of_writing = set_of({SIGPIPE, SIGXFSZ});
  pthread_sigmask(SIG_BLOCK, &of_writing, &before_);
  sigpending(&pending_);
}

/// These signals would leave a part of the file behind.
void saved_file::delayed_signals::delay_those_of_users() noexcept {
  const sigset_t of_users = set_of({SIGHUP, SIGINT, SIGQUIT, SIGTERM});
  pthread_sigmask(SIG_BLOCK, &of_users, nullptr);
}

saved_file::delayed_signals::~delayed_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending_, signal) != 0) continue;  // raised by something else
    const sigset_t raised = set_of({signal});
    constexpr timespec at_once{};
    while (sigtimedwait(&raised, nullptr, &at_once) < 0 && errno == EINTR) {}
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void require_writable(const std::string& file) {
  const auto refuse = [&](int error) { throw std::invalid_argument(complaint(file, error)); };
  if (file.empty()) refuse(ENOENT);
  const auto old = status_of(file);
  if (old && S_ISDIR(old->st_mode)) refuse(EISDIR);
  if (old && !may(file, W_OK)) refuse(errno);
  if (old) return;
  if (errno != ENOENT) refuse(errno);
  const std::string target = followed(file);
  if (fs::path(target).filename().empty()) refuse(EISDIR);  // "none/"
  if (!may(folder_of(target), W_OK | X_OK)) refuse(errno);
}

void report_loss(const char* who, const std::exception& what) noexcept {
  std::fprintf(stderr, "%s: %s\n", who, what.what());
#ifdef __GLIBC__  // an exit() by what exit() calls goes on with the rest, and its status counts
  static std::atomic<bool> once{false};
  if (!once.exchange(true))
    on_exit(
        [](int status, void*) {
          if (status == 0) std::exit(1);
        },
        nullptr);
#endif
}

}  // namespace cleave::machine
