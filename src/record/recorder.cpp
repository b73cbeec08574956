#include "record/recorder.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "machine/trusted.hpp"

namespace cleave::record {
namespace {

/// Who looks again within this time, in nanoseconds, has done nothing else meanwhile.
constexpr std::uint64_t right_after = 5000;

/// The ranks in the world of a group, which is freed.
std::vector<int> members(MPI_Group own) {
  int size = 0;
  MPI_Group all;
  CLEAVE_REAL(Comm_group)(world(), &all);
  CLEAVE_REAL(Group_size)(own, &size);
  std::vector<int> from(static_cast<std::size_t>(size)), to(from.size(), -1);
  std::iota(from.begin(), from.end(), 0);
  CLEAVE_REAL(Group_translate_ranks)(own, size, from.data(), all, to.data());
  CLEAVE_REAL(Group_free)(&own), CLEAVE_REAL(Group_free)(&all);
  for (int& rank : to) rank = std::max(rank, -1);  // those of another job have none
  return to;
}

/// The same on all ranks. (FNV-1a.)
std::uint64_t hash_of(const std::vector<int>& ranks) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const int rank : ranks) hash = (hash ^ static_cast<std::uint32_t>(rank)) * 0x100000001b3u;
  return hash;
}

}  // namespace

void recorder::begin(int rank, int ranks, const char* folder) {
  writer_.open(folder, rank);
  rank_ = rank;
  entry e;
  e.what = entry::kind::begin, e.number = static_cast<std::uint32_t>(ranks), e.peer = rank;
  e.first = now();
  writer_.put(e);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  e = {}, e.what = entry::kind::host;
  writer_.put(e, host);
  known(world());
}

void recorder::end(unsigned calls_of_other_threads) {
  entry e;
  e.what = entry::kind::end, e.first = now(), e.number = calls_of_other_threads;
  writer_.put(e);
  writer_.close();
}

void recorder::call(const void* from, const char* function, std::uint64_t began,
                    std::uint64_t ended, bool looks) {
  if (looks && began - in_vain_until_ < right_after) began = in_vain_since_;
  in_vain_until_ = 0;
  entry e;
  e.what = entry::kind::call, e.number = site(from, function), e.first = began, e.second = ended;
  writer_.put(e);
}

void recorder::looked_in_vain(std::uint64_t began, std::uint64_t ended) noexcept {
  if (began - in_vain_until_ >= right_after) in_vain_since_ = began;
  in_vain_until_ = ended;
}

const communicator& recorder::known(MPI_Comm ranks) {
  const auto at = numbers_.find(number_of(ranks));
  return at != numbers_.end() ? *communicators_[at->second] : add(ranks);
}

const communicator& recorder::add(MPI_Comm ranks) {
  auto c = std::make_unique<communicator>();
  c->number = static_cast<std::uint32_t>(communicators_.size());
  int between = 0;
  MPI_Group group;
  CLEAVE_REAL(Comm_test_inter)(ranks, &between);
  CLEAVE_REAL(Comm_group)(ranks, &group);
  std::vector<int> all = members(group);
  entry e;
  e.what = entry::kind::communicator, e.number = c->number;
  e.peer = static_cast<std::int32_t>(std::ranges::find(all, rank_) - all.begin());
  c->between_groups = between != 0;
  c->of_world = all;
  if (c->between_groups) {
    CLEAVE_REAL(Comm_remote_group)(ranks, &group);
    c->of_world = members(group);
    all.insert(all.end(), c->of_world.begin(), c->of_world.end());
    std::ranges::sort(all);  // the same on both sides
  }
  // All members make communicators with the same members in the same order.
  e.first = hash_of(all), e.second = same_members_[e.first]++;
  writer_.put(e);
  numbers_[number_of(ranks)] = c->number;
  return *communicators_.emplace_back(std::move(c));
}

void recorder::start(open_request& about) {
  about.about.second = ++last_request_;
  writer_.put(about.about);
}

open_request* recorder::find_request(std::uint64_t handle) {
  const auto at = requests_.find(handle);
  return at == requests_.end() ? nullptr : &at->second;
}

void recorder::completed(std::uint64_t handle, const MPI_Status& status) {
  open_request* const r = find_request(handle);
  if (r == nullptr) return;
  entry e;
  e.what = entry::kind::completed, e.second = r->about.second;
  if (r->is_receive()) {
    int cancelled = 0;
    CLEAVE_REAL(Test_cancelled)(&status, &cancelled);
    e.detail = cancelled != 0 ? 1 : 0;
    e.peer = r->of->in_world(status.MPI_SOURCE), e.tag = status.MPI_TAG;
  }
  if (e.second != 0) writer_.put(e);  // 0: a persistent request that is not started
  if (r->persistent) r->about.second = 0;
  else requests_.erase(handle);
}

std::uint32_t recorder::site(const void* from, const char* function) {
  const auto key =
      reinterpret_cast<std::uintptr_t>(from) ^ reinterpret_cast<std::uintptr_t>(function) << 16;
  const auto [at, is_new] = sites_.try_emplace(key, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    Dl_info found{};
    const bool known = dladdr(from, &found) != 0;
    entry e;
    e.what = entry::kind::site, e.number = at->second;
    e.first = reinterpret_cast<std::uintptr_t>(from) -
              (known ? reinterpret_cast<std::uintptr_t>(found.dli_fbase) : 0);
    writer_.put(e, std::string(function) + "\n" + machine::mapped_file(from));
  }
  return at->second;
}

}  // namespace cleave::record
