#pragma once

#include <dlfcn.h>
#include <mpi.h>
#include <algorithm>
#include <numeric>
#include <vector>

#include "cosched/interpose.hpp"

namespace cleave::cosched {

/// MPI_COMM_WORLD. Open MPI's handles are addresses in its library, which may be loaded later than
/// this one.
inline MPI_Comm world() noexcept {
#ifdef OPEN_MPI
  static auto* const all = static_cast<MPI_Comm>(object("ompi_mpi_comm_world"));
  return all;
#else
  return MPI_COMM_WORLD;
#endif
}

/// Which ranks of MPI_COMM_WORLD those of other communicators are. Kept for those used last, until
/// they are freed. Touched by the outermost call of an active rank.
class communicators {
public:
  /// The number in the world of rank r; `rank::nobody` if it is not known: between two groups, for
  /// one.
  int in_world(MPI_Comm ranks, int r) {
    if (ranks == world() || r < 0) return r;
    const auto known =
        std::find_if(all_.begin(), all_.end(), [&](const entry& e) { return e.ranks == ranks; });
    const entry& e = known != all_.end() ? *known : add(ranks);
    const auto at = static_cast<std::size_t>(r);
    return at < e.of_world.size() ? e.of_world[at] : rank::nobody;
  }
  /// This communicator is freed: its handle may be another one's from now on.
  void freed(MPI_Comm ranks) noexcept {
    std::erase_if(all_, [&](const entry& e) { return e.ranks == ranks; });
  }

  /// The numbers in the world of all ranks of a communicator; none between two groups.
  static std::vector<int> all_in_world(MPI_Comm ranks) {
    static auto* const group_of = real<decltype(PMPI_Comm_group)>("PMPI_Comm_group");
    MPI_Group own;
    if (is_between_groups(ranks) || group_of(ranks, &own) != MPI_SUCCESS) return {};
    return members_in_world(own);
  }
  /// Whether all ranks of a communicator, those of a remote group too, are in MPI_COMM_WORLD.
  static bool is_of_job(MPI_Comm ranks) {
    static auto* const group_of = real<decltype(PMPI_Comm_group)>("PMPI_Comm_group");
    static auto* const remote_of = real<decltype(PMPI_Comm_remote_group)>("PMPI_Comm_remote_group");
    const auto get = is_between_groups(ranks) ? remote_of : group_of;
    MPI_Group others;
    if (get(ranks, &others) != MPI_SUCCESS) return true;
    const auto all = members_in_world(others);
    return std::find(all.begin(), all.end(), MPI_UNDEFINED) == all.end();
  }

private:
  struct entry {
    MPI_Comm ranks;
    std::vector<int> of_world;
  };
  static constexpr std::size_t most = 16;

  /// MPI's own function, which is found by its name: this library must not refer to its address.
  template <class F>
  static F* real(const char* name) {
    return reinterpret_cast<F*>(next_function(name));
  }

  const entry& add(MPI_Comm ranks) {
    if (all_.size() == most) all_.erase(all_.begin());
    return all_.emplace_back(entry{ranks, all_in_world(ranks)});
  }

  static bool is_between_groups(MPI_Comm ranks) {
    static auto* const test = real<decltype(PMPI_Comm_test_inter)>("PMPI_Comm_test_inter");
    int between = 0;
    return test(ranks, &between) != MPI_SUCCESS || between != 0;
  }

  /// The numbers in the world of the group's ranks. Frees the group.
  static std::vector<int> members_in_world(MPI_Group own) {
    // NOLINTBEGIN(readability-identifier-naming): MPI's own names
    static auto* const Comm_group = real<decltype(PMPI_Comm_group)>("PMPI_Comm_group");
    static auto* const Group_size = real<decltype(PMPI_Group_size)>("PMPI_Group_size");
    static auto* const Group_free = real<decltype(PMPI_Group_free)>("PMPI_Group_free");
    static auto* const Group_translate_ranks =
        real<decltype(PMPI_Group_translate_ranks)>("PMPI_Group_translate_ranks");
    // NOLINTEND(readability-identifier-naming)
    int size = 0;
    MPI_Group all;
    if (Comm_group(world(), &all) != MPI_SUCCESS) return {};
    Group_size(own, &size);
    std::vector<int> from(static_cast<std::size_t>(size)), to(from.size());
    std::iota(from.begin(), from.end(), 0);
    if (Group_translate_ranks(own, size, from.data(), all, to.data()) != MPI_SUCCESS) to.clear();
    Group_free(&own), Group_free(&all);
    return to;
  }

  std::vector<entry> all_;
};

}  // namespace cleave::cosched
