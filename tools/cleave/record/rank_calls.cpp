#include "record/rank_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "support/input_error.hpp"

namespace record {
namespace {

class reader {
public:
  explicit reader(const std::filesystem::path& file)
      : name_(file.string()), in_(file, std::ios::binary) {}

  rank_calls read() {
    char title[sizeof cleave::record::rank_file_title];
    if (!in_.read(title, sizeof title) ||
        std::memcmp(title, cleave::record::rank_file_title, sizeof title) != 0)
      fail("what a rank has recorded", "another file");
    for (entry e; !ended_; ++entries_) {
      if (!in_.read(reinterpret_cast<char*>(&e), sizeof e))
        fail("the rank's MPI_Finalize",
             fmt::format("the file's end after {} calls", rank_.calls.size()));
      take(e);
    }
    expect(rank_.rank < rank_.ranks && rank_.begin <= rank_.end, "a rank's begin and end");
    return std::move(rank_);
  }

private:
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    throw apps::input_error(name_, 0, expected, got);
  }
  void expect(bool holds, const char* what) const {
    if (!holds) fail(what, fmt::format("something else as entry {}", entries_ + 1));
  }
  std::string text(std::int32_t length) {
    constexpr std::int32_t most = 65536;
    expect(length >= 0 && length <= most, "a text");
    const auto bytes = static_cast<std::size_t>(length);
    std::string all((bytes + sizeof(entry) - 1) / sizeof(entry) * sizeof(entry), '\0');
    in_.read(all.data(), static_cast<std::streamsize>(all.size()));
    all.resize(bytes);
    return all;
  }
  void take(const entry& e) {
    using kind = entry::kind;
    switch (e.what) {
      case kind::begin:
        rank_.rank = static_cast<std::uint32_t>(e.peer), rank_.ranks = e.number;
        rank_.begin = last_ = e.first;
        break;
      case kind::host: rank_.host = text(e.tag); break;
      case kind::site: take_site(e); break;
      case kind::communicator:
        expect(e.number == rank_.communicators.size(), "the next communicator");
        rank_.communicators.push_back({e.first, e.second, e.peer});
        break;
      case kind::call:
        expect(e.number < rank_.sites.size() && last_ <= e.first && e.first <= e.second,
               "a call behind the last one");
        last_ = e.second;
        rank_.calls.push_back(
            {e.number, static_cast<std::uint32_t>(rank_.entries.size()), e.first, e.second});
        break;
      case kind::end:
        rank_.end = e.first, rank_.calls_of_other_threads = e.number;
        expect(last_ <= e.first, "the end behind the last call");
        ended_ = true;
        break;
      default: take_part(e);
    }
  }
  void take_site(const entry& e) {
    expect(e.number == rank_.sites.size(), "the next place of calls");
    const std::string names = text(e.tag);
    const auto cut = std::min(names.find('\n'), names.size());
    std::string function = names.substr(0, cut);
    function.erase(0, function.find('_') + 1);  // MPI_ or PMPI_
    rank_.sites.push_back({function, names.substr(std::min(cut + 1, names.size())), e.first});
  }
  void take_part(const entry& e) {
    using kind = entry::kind;
    expect(e.what <= kind::end && !rank_.calls.empty(), "a call, or a part of one");
    expect(e.what == kind::completed || e.number < rank_.communicators.size(), "a communicator");
    expect(e.peer < static_cast<std::int32_t>(rank_.ranks), "a rank");
    expect(e.what != kind::collective || e.detail <= 3, "who waits for whom");
    rank_.entries.push_back(e);
    rank_.calls.back().entries_end = static_cast<std::uint32_t>(rank_.entries.size());
  }

  std::string name_;
  std::ifstream in_;
  rank_calls rank_;
  std::uint64_t last_ = 0;
  std::size_t entries_ = 0;
  bool ended_ = false;
};

}  // namespace

rank_calls read_rank_file(const std::filesystem::path& file) { return reader(file).read(); }

}  // namespace record
