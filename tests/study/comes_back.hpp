#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/input_error.hpp"
#include "temporary_folder.hpp"

namespace study {

/// A study that is written to the file and read back is the same, and one in which something is
/// changed `from` what it is `to` what it cannot be is refused.
template <class Measured, class Read>
void expect_comes_back(const Measured& m, const char* file_name, Read read,
                       const std::vector<std::pair<std::string, std::string>>& changes) {
  const cleave::tests::temporary_folder folder;
  const std::string file = folder.path / file_name;
  std::ofstream(file) << to_json(m, true);
  Measured back = read(file);
  EXPECT_FALSE(back.interrupted) << "it goes on";
  back.interrupted = true;
  EXPECT_EQ(to_json(back), to_json(m));
  for (const auto& [from, to] : changes) {
    std::string text = to_json(m, true);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    std::ofstream(file) << text.replace(at, from.size(), to);
    EXPECT_THROW((void)read(file), apps::input_error) << to;
  }
  EXPECT_NE(page(m).find("\"whole_passes\":1"), std::string::npos);
}

}  // namespace study
