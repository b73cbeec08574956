// DCD files: what is written comes back, and the head says how many frames there are after each.
#include "lammps/dcd.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lammps/trajectory.hpp"
#include "temporary_folder.hpp"

namespace apps::lammps {
namespace {

// The records of a file, each between two copies of its length.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < file.size();) {
    std::int32_t bytes = 0, again = 0;
    std::memcpy(&bytes, file.data() + at, 4);
    if (bytes < 0 || at + 8 + static_cast<std::size_t>(bytes) > file.size()) {
      ADD_FAILURE() << "a record of " << bytes << " bytes at " << at;
      return all;
    }
    all.push_back(file.substr(at + 4, static_cast<std::size_t>(bytes)));
    at += 4 + static_cast<std::size_t>(bytes);
    std::memcpy(&again, file.data() + at, 4);
    EXPECT_EQ(bytes, again);
    at += 4;
  }
  return all;
}
template <class T>
std::vector<T> numbers_of(const std::string& record) {
  std::vector<T> all(record.size() / sizeof(T));
  std::memcpy(all.data(), record.data(), all.size() * sizeof(T));
  return all;
}

TEST(dcd, comes_back_after_each_frame) {
  std::ostringstream out;
  dcd file(out, {10, 20, 30}, 0.5);
  const std::vector<std::vector<vec3>> positions = {
      {{1, 2, 3}, {-4, 5.5, 6}}, {{7, 8, 9}, {1, 1, 1}}, {{0, 0, 0.25}, {3, 2, 1}}};
  for (std::size_t n = 1; n <= positions.size(); n++) {
    file.write(static_cast<int>(100 + 10 * n), positions[n - 1]);
    const auto records = records_of(out.str());
    ASSERT_EQ(records.size(), 3 + 4 * n);
    EXPECT_EQ(records[0].substr(0, 4), "CORD");
    const auto control = numbers_of<std::int32_t>(records[0].substr(4));
    ASSERT_EQ(control.size(), 20u);
    EXPECT_EQ(control[0], static_cast<int>(n)) << "frames";
    EXPECT_EQ(control[1], 110) << "the first step";
    EXPECT_EQ(control[2], n > 1 ? 10 : 0) << "from one to the next";
    EXPECT_EQ(control[3], static_cast<int>(100 + 10 * n)) << "the last one";
    EXPECT_EQ(numbers_of<float>(records[0].substr(4))[9], 0.5f);
    EXPECT_EQ(control[10], 1) << "there is a box";
    EXPECT_EQ(control[19], 24);
    EXPECT_EQ(records[1].size(), 84u);
    EXPECT_EQ(numbers_of<std::int32_t>(records[2]), std::vector<std::int32_t>{2});
    for (std::size_t k = 0; k < n; k++) {
      const auto* const frame = &records[3 + 4 * k];
      EXPECT_EQ(numbers_of<double>(frame[0]), (std::vector<double>{10, 0, 20, 0, 0, 30}));
      for (std::size_t i = 0; i < 2; i++) {
        EXPECT_EQ(numbers_of<float>(frame[1])[i], static_cast<float>(positions[k][i].x));
        EXPECT_EQ(numbers_of<float>(frame[2])[i], static_cast<float>(positions[k][i].y));
        EXPECT_EQ(numbers_of<float>(frame[3])[i], static_cast<float>(positions[k][i].z));
      }
    }
  }
}

TEST(dcd, is_a_trajectory) {
  const cleave::tests::temporary_folder folder;
  const std::string name = (folder.path / "x.dcd").string();
  trajectory::require_good(name);
  EXPECT_THROW(trajectory::require_good((folder.path / "x.trr").string()), std::invalid_argument);
  {
    trajectory file(name, {-1, -1, -1}, {4, 4, 4}, {}, 0.005);
    const frame second{{1}, {{4, 5, 6}}, {{}}, {{}}}, first{{0}, {{1, 2, 3}}, {{}}, {{}}};
    const std::array<const frame*, 2> parts = {&second, &first};
    for (const int step : {0, 5}) file.write(step, parts);
  }
  std::ifstream in(name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const auto records = records_of(text.str());
  ASSERT_EQ(records.size(), 3 + 2 * 4u);
  EXPECT_EQ(numbers_of<float>(records[8]), (std::vector<float>{1, 4})) << "atoms in their order";
  EXPECT_EQ(numbers_of<float>(records[10]), (std::vector<float>{3, 6}));
}

}  // namespace
}  // namespace apps::lammps
