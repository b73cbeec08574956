#include "elf.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

namespace elf {
namespace {

template <class T>
std::vector<T> read_all(std::istream& in, std::uint64_t at, std::uint64_t bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  std::vector<T> all(bytes <= most ? bytes / sizeof(T) : 0);
  in.seekg(static_cast<std::streamoff>(at));
  in.read(reinterpret_cast<char*>(all.data()),
          static_cast<std::streamsize>(all.size() * sizeof(T)));
  if (!in) all.clear();
  in.clear();
  return all;
}

}  // namespace

std::uint64_t each_symbol(const std::filesystem::path& file, const symbol_seen& see) {
  constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  std::ifstream in(file, std::ios::binary);
  const auto head = read_all<Elf64_Ehdr>(in, 0, sizeof(Elf64_Ehdr));
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      head[0].e_ident[EI_CLASS] != ELFCLASS64)
    return nowhere;
  std::uint64_t base = nowhere;
  for (const auto& p : read_all<Elf64_Phdr>(in, head[0].e_phoff,
                                            std::uint64_t{head[0].e_phnum} * sizeof(Elf64_Phdr)))
    if (p.p_type == PT_LOAD) base = std::min(base, p.p_vaddr);
  const auto sections = read_all<Elf64_Shdr>(in, head[0].e_shoff,
                                             std::uint64_t{head[0].e_shnum} * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& text = sections[section.sh_link];
    auto names = read_all<char>(in, text.sh_offset, text.sh_size);
    names.push_back('\0');
    for (const auto& s : read_all<Elf64_Sym>(in, section.sh_offset, section.sh_size))
      if (s.st_shndx != SHN_UNDEF && s.st_name < names.size() &&
          !see(s, &names[s.st_name], section.sh_type))
        return base;
  }
  return base;
}

}  // namespace elf
