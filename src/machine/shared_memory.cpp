#include "machine/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::machine {

shared_memory::~shared_memory() {
  if (at_ != nullptr) munmap(at_, bytes_);
}

shared_memory shared_memory::map(int file, std::size_t bytes) {
  shared_memory result;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return result;
  result.at_ = at;
  result.bytes_ = bytes;
  return result;
}

shared_memory shared_memory::create(const std::string& name, std::size_t bytes) {
  const int file = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return {};
  // Reserved now: a full file system would otherwise be noticed by a SIGBUS.
  shared_memory made;
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) made = map(file, bytes);
  close(file);
  if (!made) remove(name);
  return made;
}

shared_memory shared_memory::open(const std::string& name, std::size_t bytes) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return {};
  shared_memory opened = map(file, bytes);
  close(file);
  return opened;
}

void shared_memory::remove(const std::string& name) noexcept { shm_unlink(name.c_str()); }

}  // namespace cleave::machine
