// What an ELF file of 64 bits has: its functions and other symbols.
#pragma once

#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace elf {

// Is told of a symbol, its name, and which kind of table has it: SHT_SYMTAB or SHT_DYNSYM. Returns
// whether to go on.
using symbol_seen =
    std::function<bool(const Elf64_Sym& symbol, const char* name, std::uint32_t table)>;

// Tells of each symbol that the file defines. Returns the address at which the file begins; ~0 if
// it has none, or is no such file.
std::uint64_t each_symbol(const std::filesystem::path& file, const symbol_seen& see);

}  // namespace elf
