#pragma once

#include <cstdint>

/// What a rank writes about its MPI calls, and `cleave record` reads: the title, then entries of 32
/// bytes in the order of the calls.
namespace cleave::record {

inline constexpr char rank_file_title[32] = "cleave rank 1\n";

/// Who waits for whom in a collective call.
enum class shape : std::uint8_t {
  all,        // each rank for all others
  from_root,  // each for the root
  to_root,    // the root for all others
  upward      // each for those with a lower rank in the communicator
};

/// Ranks are those of MPI_COMM_WORLD, times nanoseconds of the monotonic clock.
struct entry {
  enum class kind : std::uint8_t {
    begin,         // number: ranks of the job; peer: this one; first: the end of MPI_Init
    site,          // a place that calls MPI; number; first: its offset in its file; tag: bytes of
                   // the text behind this entry, "FUNCTION\nFILE", filled up to whole entries
    host,          // tag: bytes of the text behind this entry
    communicator,  // number; peer: this rank's place in it; first: a hash of its members; second:
                   // how many with these members this rank had before
    call,          // number: the site; first, second: its begin and end. What follows belongs to it
    send,          // number: the communicator; peer; tag; first: bytes; second: the request or 0;
                   // detail: 1 if it ends only when the receiver has begun
    receive,       // number, peer, tag, second: likewise. With a request, peer and tag are open
    completed,     // second: the request; peer, tag: of its message; detail: 1 if it is cancelled
    looked,        // a message was found that is still to be received: number, peer, tag
    collective,    // number: the communicator; detail: a shape; peer: the root; first: bytes to
                   // each who waits for this rank; second: the request or 0
    end            // first: the begin of MPI_Finalize; number: calls of other threads
  };
  kind what{};
  std::uint8_t detail = 0;
  std::uint16_t reserved = 0;
  std::uint32_t number = 0;
  std::int32_t peer = -1, tag = 0;
  std::uint64_t first = 0, second = 0;
};
static_assert(sizeof(entry) == 32 && sizeof(rank_file_title) == sizeof(entry));

}  // namespace cleave::record
