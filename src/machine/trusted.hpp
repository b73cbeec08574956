#pragma once

#include <string>

namespace cleave::machine {

/// Why code in this file is not to be executed, as the end of a sentence; empty: it may be. Nobody
/// else may be able to change the file, or to put another one into its folder: both belong to root,
/// to this user or to the owner of this program, and only they may write to them. A group of the
/// same number as the owner is the owner's own.
std::string why_not_trusted(const std::string& file);

/// The file that this address is mapped from, as the kernel knows it: what a program or a library
/// was called by may be relative to a folder that is not known. Empty if there is none.
std::string mapped_file(const void* address);

}  // namespace cleave::machine
