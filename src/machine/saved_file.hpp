#pragma once

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

/// Every file that the library and the programs leave behind is written by this: traces, plans,
/// reports, keys.
namespace cleave::machine {

/// A file that is being written. Until keep() a regular file is what it was before: the new one is
/// written beside it and takes its place whole, with the owner and the mode of the old one; where a
/// symbolic link leads to it, the link stays. What is no regular file (a device, a pipe, this
/// process's own output) is written in place, and so is a file that may be written in a folder that
/// may not. Used by one thread, which gets no signal for what it writes.
class saved_file {
public:
  enum class kind {
    output,     // readable as the umask allows
    secret,     // for the owner alone; on the disk when keep() returns
    new_secret  // a secret that is not written where there is a file already
  };
  /// Blocks until a reader opens a pipe. Throws std::runtime_error with one line that begins with
  /// the file's name, as keep() does.
  explicit saved_file(const std::string& file, kind what = kind::output);
  /// Nothing of a regular file is left behind unless keep() has returned.
  ~saved_file();
  saved_file(const saved_file&) = delete;
  saved_file& operator=(const saved_file&) = delete;

  std::FILE* stream() noexcept { return stream_; }
  void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stream_); }
  void keep();

private:
  /// Signals that wait while it lives.
  class delayed_signals {
  public:
    delayed_signals() noexcept;
    ~delayed_signals();
    delayed_signals(const delayed_signals&) = delete;
    delayed_signals& operator=(const delayed_signals&) = delete;
    void delay_those_of_users() noexcept;

  private:
    sigset_t before_{}, pending_{};
  };

  [[noreturn]] void fail(int error);
  int open(kind what);
  int open_beside(kind what);

  delayed_signals signals_;  // the first to be made, the last to go
  const std::string name_;
  std::string target_;      // the file that links lead to
  std::string unfinished_;  // the file beside the target; empty: written in place, or gone
  const bool durable_;
  std::FILE* stream_ = nullptr;
};

/// Before long work: throws std::invalid_argument, one line that begins with the file's name, if it
/// could not be written. Leaves everything as it is.
void require_writable(const std::string& file);

/// Says for a destructor, on standard error, that something is lost, and has this process end with
/// status 1 where it would have ended with 0.
void report_loss(const char* who, const std::exception& what) noexcept;

}  // namespace cleave::machine
