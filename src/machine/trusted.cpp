#include "machine/trusted.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace cleave::machine {

std::string why_not_trusted(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return error.message();
  struct stat program {};
  const bool known = stat("/proc/self/exe", &program) == 0;
  for (const fs::path& part : {real, real.parent_path()}) {
    struct stat s {};
    if (stat(part.c_str(), &s) != 0) return part.string() + " cannot be looked at";
    const bool own =
        s.st_uid == 0 || s.st_uid == geteuid() || (known && s.st_uid == program.st_uid);
    if (!own) return part.string() + " is another user's";
    const mode_t others = s.st_gid == s.st_uid ? S_IWOTH : S_IWGRP | S_IWOTH;
    if ((s.st_mode & others) != 0) return "others may write to " + part.string() + " (chmod go-w)";
  }
  return {};
}

std::string mapped_file(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // 7f0c8e428000-7f0c8e450000 r--p 00000000 08:01 1835 /usr/lib/libc.so.6
    std::istringstream in(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights, offset, device, inode, file;
    in >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> std::ws;
    if (wanted < begin || wanted >= end) continue;
    std::getline(in, file);
    return file.starts_with('/') ? file : "";
  }
  return {};
}

}  // namespace cleave::machine
