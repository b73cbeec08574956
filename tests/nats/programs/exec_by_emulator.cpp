// Preloaded into a program of another architecture that QEMU runs. Where the program begins itself
// again, as a server does for each job and GoogleTest for a death test, this begins QEMU with it:
// the kernel does that only where somebody has set up binfmt_misc.
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace {

using namespace std::string_view_literals;

// Arrays, because the child of a process with threads must not allocate.
std::array<char, PATH_MAX> program, asked;
std::array<char*, 1024> words;
std::array<char*, 4096> variables;
char emulator[] = "qemu-aarch64", name_follows[] = "-0";

/// Appends those of `from` that do not begin with `without`; all of them if that is empty.
template <std::size_t N>
void append(std::array<char*, N>& to, std::size_t& n, char* const* from, std::string_view without) {
  for (; *from != nullptr && n + 1 < N; ++from)
    if (without.empty() || !std::string_view(*from).starts_with(without)) to[n++] = *from;
  to[n] = nullptr;
}

}  // namespace

extern "C" int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  const auto length = readlink("/proc/self/exe", program.data(), program.size() - 1);
  if (length < 0) return -1;
  program[static_cast<std::size_t>(length)] = '\0';
  const bool is_itself =
      path == "/proc/self/exe"sv ||
      (realpath(path, asked.data()) != nullptr && program.data() == std::string_view(asked.data()));
  if (!is_itself) return static_cast<int>(syscall(SYS_execve, path, arguments, environment));
  std::size_t n = 0, m = 0;
  for (char* word : {emulator, name_follows, arguments[0], program.data()}) words[n++] = word;
  append(words, n, arguments + 1, "");
  // QEMU is a program of this machine, and preloads nothing. It sets the variable again for what it
  // runs, by QEMU_SET_ENV.
  append(variables, m, environment, "LD_PRELOAD=");
  return execvpe(emulator, words.data(), variables.data());
}

extern "C" int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}
