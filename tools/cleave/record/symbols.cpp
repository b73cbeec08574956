#include "record/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "elf.hpp"
#include "travel/demangled.hpp"

namespace record {
namespace {

struct function {
  std::uint64_t begin = 0, size = 0;
  std::string name;
};

// The functions of an ELF file, by their address from where the file begins in memory.
std::vector<function> functions_of(const std::string& file) {
  std::vector<function> all;
  const std::uint64_t base =
      elf::each_symbol(file, [&all](const Elf64_Sym& s, const char* name, std::uint32_t) {
        if (ELF64_ST_TYPE(s.st_info) == STT_FUNC) all.push_back({s.st_value, s.st_size, name});
        return true;
      });
  std::erase_if(all, [base](const function& f) { return f.begin < base; });
  for (function& f : all) f.begin -= base;
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
