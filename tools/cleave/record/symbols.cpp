#include "record/symbols.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "travel/demangled.hpp"

namespace record {
namespace {

struct function {
  std::uint64_t begin = 0, size = 0;
  std::string name;
};

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

// The functions of an ELF file, by their address from where the file begins in memory.
std::vector<function> functions_of(const std::string& file) {
  std::vector<function> all;
  std::ifstream in(file, std::ios::binary);
  const auto head = read_all<Elf64_Ehdr>(in, 0, sizeof(Elf64_Ehdr));
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      head[0].e_ident[EI_CLASS] != ELFCLASS64)
    return all;
  std::uint64_t base = ~std::uint64_t{0};
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
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF &&
          s.st_name < names.size() && s.st_value >= base)
        all.push_back({s.st_value - base, s.st_size, &names[s.st_name]});
  }
  std::ranges::sort(all, {}, &function::begin);
  return all;
}

// A function's name without its parameters, those of templates, and its result.
std::string short_name(const std::string& mangled) {
  std::string name = cleave::detail::demangled(mangled.c_str());
  if (name.find("operator") != std::string::npos) return name;
  constexpr std::string_view nameless = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(nameless, at)) != std::string::npos;)
    name.erase(at, nameless.size());
  std::string kept;
  int depth = 0;
  for (const char c : name) {
    if (c == '(' && depth == 0 && !kept.empty()) break;
    if (c == '<' || c == '{') ++depth;
    if (depth == 0) kept += c;
    if (c == '>' || c == '}') --depth;
  }
  return kept.substr(kept.rfind(' ') + 1);
}

}  // namespace

std::vector<std::string> names_of(const std::vector<site>& sites) {
  std::map<std::string, std::vector<function>> files;
  std::vector<std::string> names;
  for (const site& s : sites) {
    const auto [at, is_new] = files.try_emplace(s.file);
    if (is_new) at->second = functions_of(s.file);
    const auto& all = at->second;
    // An address behind a call may be behind its function.
    const std::uint64_t of = s.offset == 0 ? 0 : s.offset - 1;
    auto found = std::ranges::upper_bound(all, of, {}, &function::begin);
    if (found != all.begin() &&
        of < (found - 1)->begin + std::max<std::uint64_t>(1, (found - 1)->size))
      names.push_back(fmt::format("{} in {}+{:#x}", s.function, short_name((found - 1)->name),
                                  s.offset - (found - 1)->begin));
    else
      names.push_back(fmt::format("{} in {}+{:#x}", s.function,
                                  std::filesystem::path(s.file).filename().string(), s.offset));
  }
  return names;
}

}  // namespace record
