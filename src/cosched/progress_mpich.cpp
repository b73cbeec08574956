// How MPICH's progress loop is watched (device ch4:ucx). Every wait calls ucp_worker_progress()
// until it is over, which tells what came over the network. What comes through shared memory MPICH
// sees by itself; but whatever it sends or receives there it copies by memcpy(), header at least,
// and that call goes through a table of addresses in libmpich.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>
#include <cstring>

#include "cosched/interpose.hpp"
#include "cosched/job.hpp"

namespace cleave::cosched::progress {

// MPICH looks at shared memory after the network.
const unsigned tests = 2;
const char* const libraries[] = {"libmpich.so.12", "libmpi.so.12", nullptr};

namespace {

bool copied = false;

void* copy(void* to, const void* from, std::size_t bytes) {
  copied = true;
  return std::memcpy(to, from, bytes);
}
void* checked_copy(void* to, const void* from, std::size_t bytes, std::size_t) {
  return copy(to, from, bytes);
}
void* move(void* to, const void* from, std::size_t bytes) {
  copied = true;
  return std::memmove(to, from, bytes);
}

struct replacement {
  const char* name;
  void* by;
};
const replacement replaced[] = {{"memcpy", reinterpret_cast<void*>(copy)},
                                {"__memcpy_chk", reinterpret_cast<void*>(checked_copy)},
                                {"memmove", reinterpret_cast<void*>(move)}};

void write_entry(void** entry, void* value) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const begin =
      reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(entry) & ~(page - 1));
  // The page stays writable: other entries lie there that the loader writes when they are first
  // used.
  if (mprotect(begin, page, PROT_READ | PROT_WRITE) == 0) *entry = value;
}

/// The tables of a loaded library that say which function goes where.
struct tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * entries = nullptr;
  std::size_t bytes = 0;
};

tables tables_of(const dl_phdr_info& library) noexcept {
  tables t;
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* d =
        reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_SYMTAB) t.symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_STRTAB) t.names = reinterpret_cast<const char*>(d->d_un.d_ptr);
      if (d->d_tag == DT_JMPREL) t.entries = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_PLTRELSZ) t.bytes = d->d_un.d_val;
    }
  }
  return t;
}

/// Makes one library call copy() and move(). Counts the entries that it has changed.
int redirect(dl_phdr_info* library, std::size_t, void* changed) {
  bool is_mpich = false;
  for (auto* name = libraries; *name != nullptr; ++name)
    is_mpich = is_mpich || std::strstr(library->dlpi_name, *name) != nullptr;
  if (!is_mpich) return 0;
  const tables t = tables_of(*library);
  if (t.symbols == nullptr || t.names == nullptr || t.entries == nullptr) return 0;
  for (std::size_t i = 0; i < t.bytes / sizeof *t.entries; ++i) {
    const char* const name = t.names + t.symbols[ELF64_R_SYM(t.entries[i].r_info)].st_name;
    for (const replacement& r : replaced) {
      if (std::strcmp(name, r.name) != 0) continue;
      write_entry(reinterpret_cast<void**>(library->dlpi_addr + t.entries[i].r_offset), r.by);
      ++*static_cast<int*>(changed);
    }
  }
  return 0;
}

}  // namespace

bool watch() noexcept {
  int changed = 0;
  dl_iterate_phdr(redirect, &changed);
  return changed != 0 && dlsym(RTLD_DEFAULT, "ucp_worker_progress") != nullptr;
}

void ask_always() noexcept {}  // MPICH always asks

}  // namespace cleave::cosched::progress

using namespace cleave::cosched;

extern "C" [[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker) {
  static auto* const real =
      reinterpret_cast<unsigned (*)(void*)>(next_function("ucp_worker_progress"));
  if (!this_rank.is_watched() && !progress::asked.is_watched()) return real(worker);
  if (this_rank.now_is() == rank::state::active && !this_rank.is_called_here())
    stand_aside("a thread of MPI's own looks for messages");
  this_rank.about_to_look();
  progress::begin_look();
  const unsigned events = real(worker);
  const bool came = progress::end_look();
  if (!this_rank.is_watched()) return events;
  if (events != 0 || progress::copied || came) {
    progress::copied = false;
    this_rank.found_something();
  } else {
    this_rank.found_nothing();
  }
  return events;
}
