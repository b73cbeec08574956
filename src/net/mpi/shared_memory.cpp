#include "net/mpi/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::net::mpi {

shared_memory::~shared_memory() {
  if (at_ != nullptr) munmap(at_, bytes_);
}

shared_memory shared_memory::map(int file, std::size_t bytes) {
  shared_memory result;
  if (file < 0) return result;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) return result;
  result.at_ = at;
  result.bytes_ = bytes;
  return result;
}

shared_memory shared_memory::create(const std::string& name, std::size_t bytes) {
  const int file = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  // Reserved now: a full file system would otherwise be noticed by a SIGBUS.
  if (file >= 0 && posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
    close(file);
    remove(name);
    return {};
  }
  return map(file, bytes);
}

shared_memory shared_memory::open(const std::string& name, std::size_t bytes) {
  return map(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0), bytes);
}

void shared_memory::remove(const std::string& name) noexcept { shm_unlink(name.c_str()); }

}  // namespace cleave::net::mpi
