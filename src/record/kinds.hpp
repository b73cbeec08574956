#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <vector>

#include "record/recorder.hpp"

/// The kinds of MPI's calls: what each one writes behind itself, from its arguments. `before` may
/// change arguments; `happened` is whether a call that looks has found something.
///
/// Numbers in templates say which arguments are meant.
namespace cleave::record {

/// What this process records. It lives for ever: programs may end MPI when they end themselves.
recorder& this_rank() noexcept;

namespace kinds {

template <std::size_t N, class... A>
auto& argument(A&... all) noexcept {
  return std::get<N>(std::tie(all...));
}
template <class... A>
auto& last(A&... all) noexcept {
  return std::get<sizeof...(A) - 1>(std::tie(all...));
}

inline std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) noexcept {
  int size = 0;
  CLEAVE_REAL(Type_size)(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size > 0 ? size : 0);
}

/// The entry of a message; `peer` is a rank of the communicator, or any.
inline open_request message(entry::kind what, MPI_Comm ranks, int peer, int tag,
                            std::uint64_t bytes = 0) {
  const communicator& c = this_rank().known(ranks);
  open_request r;
  r.of = &c;
  r.about.what = what, r.about.number = c.number, r.about.tag = tag, r.about.first = bytes;
  r.about.peer = c.in_world(peer);
  return r;
}
inline void put_message(entry::kind what, MPI_Comm ranks, int peer, int tag,
                        std::uint64_t bytes = 0, bool waits_for_receiver = false) {
  if (peer == MPI_PROC_NULL) return;
  entry e = message(what, ranks, peer, tag, bytes).about;
  e.detail = waits_for_receiver ? 1 : 0;
  this_rank().put(e);
}

/// Where a status is written that the program ignores.
inline MPI_Status own_status;
inline std::vector<MPI_Status> own_statuses;

struct plain {
  static constexpr bool looks = false;
  template <class... A>
  static void after(const A&...) {}
};

template <bool Synchronous>
struct send : plain {
  template <class... A>
  static void after(const void*, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm c) {
    put_message(entry::kind::send, c, to, tag, bytes_of(count, type), Synchronous);
  }
};

struct receive : plain {
  static void before(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status*& status) {
    if (status == MPI_STATUS_IGNORE) status = &own_status;
  }
  static void after(void*, MPI_Count, MPI_Datatype, int from, int, MPI_Comm c, MPI_Status* s) {
    if (from != MPI_PROC_NULL) put_message(entry::kind::receive, c, s->MPI_SOURCE, s->MPI_TAG);
  }
};

struct send_and_receive : plain {
  template <class... A>
  static void before(A&... a) {
    if (last(a...) == MPI_STATUS_IGNORE) last(a...) = &own_status;
  }
  static void after(const void*, MPI_Count count, MPI_Datatype type, int to, int tag, void*,
                    MPI_Count, MPI_Datatype, int from, int, MPI_Comm c, MPI_Status* s) {
    put_message(entry::kind::send, c, to, tag, bytes_of(count, type));
    if (from != MPI_PROC_NULL) put_message(entry::kind::receive, c, s->MPI_SOURCE, s->MPI_TAG);
  }
  static void after(void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, int from,
                    int, MPI_Comm c, MPI_Status* s) {
    after(buffer, count, type, to, tag, nullptr, 0, type, from, 0, c, s);
  }
};

/// Starts a request, or makes a persistent one.
template <entry::kind What, bool Persistent = false, bool Synchronous = false>
struct starts : plain {
  static void after(const void*, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm c,
                    const MPI_Request* request) {
    if (peer == MPI_PROC_NULL) return;
    open_request r = message(What, c, peer, tag, bytes_of(count, type));
    r.about.detail = Synchronous ? 1 : 0;
    r.persistent = Persistent;
    if (!Persistent) this_rank().start(r);
    this_rank().add_request(*request, r);
  }
};
struct starts_persistent : plain {
  static void after(const MPI_Request* request) { after(1, request); }
  static void after(int n, const MPI_Request* requests) {
    for (int i = 0; i < n; ++i)
      if (open_request* const r = this_rank().find_request(number_of(requests[i])))
        this_rank().start(*r);
  }
};
/// The program gives its request up.
struct frees_request : plain {
  static inline std::uint64_t handle;
  static void before(MPI_Request* request) { handle = number_of(*request); }
  static void after(MPI_Request*) { this_rank().forget_request(handle); }
};

/// Waits for a message that it does not receive, or that it only chooses.
template <entry::kind What>
struct probes : plain {
  template <class... A>
  static void before(A&... a) {
    if (last(a...) == MPI_STATUS_IGNORE) last(a...) = &own_status;
  }
  template <class... A>
  static void after(int from, int, MPI_Comm c, const A&... a) {
    const MPI_Status* const s = last(a...);
    if (from != MPI_PROC_NULL) put_message(What, c, s->MPI_SOURCE, s->MPI_TAG);
  }
};
template <entry::kind What>
struct looks_for : probes<What> {
  static constexpr bool looks = true;
  template <class... A>
  static bool happened(int, int, MPI_Comm, const int* found, const A&...) {
    return *found != 0;
  }
};

/// Completes requests. Their handles are remembered, as those of completed ones are lost.
struct completes : plain {
  static inline std::vector<std::uint64_t> before_call;
  static void remember(int n, const MPI_Request* requests) {
    before_call.clear();
    for (int i = 0; i < n; ++i) before_call.push_back(number_of(requests[i]));
  }
  static void take(MPI_Status*& statuses, int n) {
    if (statuses != MPI_STATUSES_IGNORE) return;
    own_statuses.resize(static_cast<std::size_t>(n) + 1);
    statuses = own_statuses.data();
  }
  static void one(int index, const MPI_Status& status) {
    if (index >= 0 && static_cast<std::size_t>(index) < before_call.size())
      this_rank().completed(before_call[static_cast<std::size_t>(index)], status);
  }
};
struct wait : completes {
  template <class... A>
  static void before(MPI_Request*& request, A&... a) {
    remember(1, request);
    if (last(a...) == MPI_STATUS_IGNORE) last(a...) = &own_status;
  }
  template <class... A>
  static void after(const MPI_Request*, const A&... a) {
    one(0, *last(a...));
  }
};
struct test : wait {
  static constexpr bool looks = true;
  static bool happened(const MPI_Request*, const int* flag, const MPI_Status*) {
    return *flag != 0;
  }
};
struct wait_all : completes {
  template <class... A>
  static void before(int& n, MPI_Request*& requests, A&... a) {
    remember(n, requests);
    take(last(a...), n);
  }
  template <class... A>
  static void after(int n, const MPI_Request*, const A&... a) {
    for (int i = 0; i < n; ++i) one(i, last(a...)[i]);
  }
};
struct test_all : wait_all {
  static constexpr bool looks = true;
  static bool happened(int, const MPI_Request*, const int* flag, const MPI_Status*) {
    return *flag != 0;
  }
};
struct wait_any : completes {
  template <class... A>
  static void before(int& n, MPI_Request*& requests, A&... a) {
    remember(n, requests);
    if (last(a...) == MPI_STATUS_IGNORE) last(a...) = &own_status;
  }
  template <class... A>
  static void after(int, const MPI_Request*, const int* index, const A&... a) {
    if (*index != MPI_UNDEFINED) one(*index, *last(a...));
  }
};
struct test_any : wait_any {
  static constexpr bool looks = true;
  static bool happened(int, const MPI_Request*, const int*, const int* flag, const MPI_Status*) {
    return *flag != 0;
  }
};
struct wait_some : completes {
  static void before(int& n, MPI_Request*& requests, int*&, int*&, MPI_Status*& statuses) {
    remember(n, requests);
    take(statuses, n);
  }
  static void after(int, const MPI_Request*, const int* n, const int* indices,
                    const MPI_Status* statuses) {
    for (int i = 0; *n != MPI_UNDEFINED && i < *n; ++i) one(indices[i], statuses[i]);
  }
};
struct test_some : wait_some {
  static constexpr bool looks = true;
  static bool happened(int, const MPI_Request*, const int* n, const int*, const MPI_Status*) {
    return *n != 0;
  }
};

/// What a collective call sends to each who waits for this rank: `count` (argument Count) of the
/// type that is argument Type; Count of counts: their mean.
template <std::size_t Count, std::size_t Type, class... A>
std::uint64_t bytes_to_each(const communicator& c, const A&... a) {
  if constexpr (Type == 0) return 0;  // a barrier
  else if constexpr (std::is_same_v<std::decay_t<decltype(argument<Type>(a...))>, MPI_Datatype>) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(argument<Count>(a...))>>) {
      return bytes_of(argument<Count>(a...), argument<Type>(a...));
    } else {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < c.of_world.size(); ++i)
        sum += static_cast<std::uint64_t>(argument<Count>(a...)[i]);
      return sum * bytes_of(1, argument<Type>(a...)) /
             std::max<std::uint64_t>(1, c.of_world.size());
    }
  } else {
    std::uint64_t sum = 0;  // a type for each
    for (std::size_t i = 0; i < c.of_world.size(); ++i)
      sum += bytes_of(argument<Count>(a...)[i], argument<Type>(a...)[i]);
    return sum / std::max<std::uint64_t>(1, c.of_world.size());
  }
}

/// A collective call. Its communicator is argument Comm, what it sends Count and Type. If its first
/// argument is MPI_IN_PLACE, they are Count + Place and Type + Place. Root: an argument, 0: none.
template <shape Shape, std::size_t Comm, std::size_t Count = 0, std::size_t Type = 0,
          std::size_t Root = 0, std::size_t Place = 0>
struct collective : plain {
  template <class... A>
  static void after(const A&... a) {
    const communicator& c = this_rank().known(argument<Comm>(a...));
    entry e;
    e.what = entry::kind::collective, e.detail = static_cast<std::uint8_t>(Shape);
    e.number = c.number;
    if constexpr (Root != 0) e.peer = c.in_world(argument<Root>(a...));
    if constexpr (Shape == shape::from_root) {
      if (e.peer == this_rank().rank()) e.first = bytes_to_each<Count, Type>(c, a...);
    } else if constexpr (Place != 0) {
      e.first = argument<0>(a...) == MPI_IN_PLACE
                    ? bytes_to_each<Count + Place, Type + Place>(c, a...)
                    : bytes_to_each<Count, Type>(c, a...);
    } else {
      e.first = bytes_to_each<Count, Type>(c, a...);
    }
    if constexpr (sizeof...(A) == Comm + 2 &&
                  std::is_same_v<std::decay_t<decltype(last(a...))>, MPI_Request*>) {
      open_request r;
      r.about = e;
      this_rank().start(r);
      this_rank().add_request(*last(a...), r);
    } else {
      this_rank().put(e);
    }
  }
};

/// Makes a communicator, its last argument, of those of argument 0.
struct makes : plain {
  template <class... A>
  static void after(const A&... a) {
    if (*last(a...) != no_communicator()) this_rank().known(*last(a...));
  }
};
/// The same, and all members of argument 0 wait for each other.
struct divides : makes {
  template <class... A>
  static void after(const A&... a) {
    collective<shape::all, 0>::after(a...);
    makes::after(a...);
  }
};
/// A library may free a communicator of its own within the call that frees another, so this is told
/// of all of them.
struct frees : plain {
  static void begin_any(const MPI_Comm* ranks) { this_rank().freed(*ranks); }
};

}  // namespace kinds
}  // namespace cleave::record
