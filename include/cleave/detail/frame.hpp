#pragma once

#if __cplusplus < 202002L
#error Cleave needs C++20: -std=c++20
#include <this_compilation_ends_here>  // or thousands of lines follow
#endif

#include <atomic>
#include <cstdint>

/// What every construct leaves on its own stack, and the one word that every construct polls.
namespace cleave::detail {

struct frame;
struct task;
struct scope;
struct own_mark;
class worker;
class wire_type;
struct staying_type;

enum class frame_role : std::uint8_t { work, step, scope };

/// Whether a frame can be split: never again, not before something else is done, or at this moment.
enum class division : std::uint8_t { never, later, now };

/// What the slow path can do with a frame. One constant object per construct and closure type, so
/// that a frame needs one word to tell what it is. Aligned: the low bits of that word are flags.
///
/// What is split off is one of so many shares, if it can be divided so: the owner keeps one, and
/// each of those that ask shall get one. Of one share all is split off but what is under way.
struct alignas(8) frame_type {
  frame_role role;
  const wire_type* wire;  // how its task leaves the process; null: it does not
  division (*splittable)(const frame&) noexcept;  // work: is something left to give?
  task* (*split)(frame&, unsigned shares);        // work: make the task and link it into the frame
  void (*undo)(frame&) noexcept;                  // step
  void (*redo)(frame&) noexcept;                  // step
  const staying_type* staying = nullptr;          // why its task does not leave the process
};

/// A place where work could still be given away, or where the workspace was changed. Lives on the
/// stack of the construct that pushed it; linked from the innermost outward.
struct frame {
  frame* outer;
  std::uintptr_t tag;      // a frame_type, plus the flags below; written afresh at each push
  std::uint32_t index;     // position in the worker's list of seen frames; only valid when seen
  std::uint32_t unlisted;  // in a work frame: here.unlisted at its push

  static constexpr std::uintptr_t seen = 1;   // the worker's slow path knows this frame
  static constexpr std::uintptr_t given = 2;  // a part of it was given away
  static constexpr std::uintptr_t flags = seen | given;

  const frame_type& type() const noexcept {
    return *reinterpret_cast<const frame_type*>(tag & ~flags);
  }
};

[[gnu::always_inline]] inline std::uintptr_t fresh(const frame_type& t) noexcept {
  return reinterpret_cast<std::uintptr_t>(&t);
}

/// A frame that has work to give. `part` is the last part given, linked to those given before it;
/// only valid when the tag says `given`, so that a push need not write it.
///
/// The frame may be given only while every step made since its push and not undone yet is on the
/// list: going back to it would leave any other done. Frames and steps nest, so that is so exactly
/// while here.unlisted is what it was at the push.
struct work_frame : frame {
  task* part;
};

/// Bits of the polled word.
enum signal : std::uint32_t {
  asked = 1,        // a thief asks: look at the board
  attention = 2,    // a scope was cancelled: see whether it is one of mine
  news = 4,         // what I wait for may have happened
  parked = 8,       // somebody asks, and there was nothing to give when I last looked
  sleeping = 16,    // I block on this word: wake me
  checking = 32,    // CLEAVE_CHECK: split at every poll
  profiling = 64,   // options::profile: a strand ends at every poll
  own_cancel = 128  // this thread has cancelled a scope that it is in, and that nobody else is in
};

/// What a thread keeps at hand. What others write has a line of its own. Aligned to no more than
/// 64 bytes: dlopen refuses a library that has more in the static block of thread-locals.
struct alignas(64) local {
  frame* innermost = nullptr;
  scope* current = nullptr;  // the task, group or cancellation scope that this thread works for
  worker* self = nullptr;    // null on a thread that is no worker: there nothing is ever divided
  std::uintptr_t construct = 0;      // where on the stack the last divisible construct began
  std::uint32_t until_timed = 1;     // divisible constructs until the next whose time is taken
  std::uint32_t unlisted = 0;        // steps done and not undone yet that are on no list of frames
  std::uint64_t floating = 0;        // on a worker: task::floating of the task that it is in
  own_mark* own_marks = nullptr;     // scopes that this thread has cancelled for itself alone
  std::uintptr_t cutoff_before = 0;  // the cutoff before the first of them was
  alignas(64) std::atomic<std::uint32_t> word{0};          // signals
  std::uint32_t short_loops = 0;                           // see paced_loop(): of this thread alone
  std::atomic<std::uintptr_t> cutoff{~std::uintptr_t{0}};  // see cutoff.hpp
};

/// Visible whatever the user's -fvisibility: the library and the program must share it.
[[gnu::visibility("default")]] inline constinit thread_local local here{};

/// Whether ThreadSanitizer watches, which knows atomic loads only.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool thread_sanitized = __has_feature(thread_sanitizer);
#else
inline constexpr bool thread_sanitized = false;
#endif

/// Looks at what others write. A volatile load: GCC treats even a relaxed atomic load as something
/// that may read other memory, and then keeps alive every store before it, also to frames that
/// inlining made dead.
template <class T>
[[gnu::always_inline]] inline T glance(const std::atomic<T>& word) noexcept {
  if constexpr (thread_sanitized) return word.load(std::memory_order_relaxed);
  return *reinterpret_cast<const volatile T*>(&word);
}

/// The poll.
[[gnu::always_inline]] inline std::uint32_t rung_signals() noexcept { return glance(here.word); }

[[gnu::always_inline]] inline std::uintptr_t stack_pointer() noexcept {
#if defined(__x86_64__)
  std::uintptr_t sp;
  asm inline("mov %%rsp, %0" : "=r"(sp));
  return sp;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

/// Serves requests, and throws detail::cancelled if the current scope was cancelled. `construct` is
/// where on the stack the construct that polls began: a profile tells constructs apart by it.
[[gnu::noinline, gnu::cold]] void answer(std::uintptr_t construct);

/// What pushing a frame that has work to give writes, but for the link that makes it the innermost.
[[gnu::always_inline]] inline void begin_frame(work_frame& f, frame* outer,
                                               const frame_type& type) noexcept {
  f.outer = outer;
  f.tag = fresh(type);
  f.unlisted = here.unlisted;
}

/// Polls at the entry of a construct. The frame is linked before, so that the poll finds something
/// to give, and once more after it, which tells the compiler the list head on both paths: it can
/// then drop the store wherever an inlined inner construct overwrites it.
[[gnu::always_inline]] inline void enter(frame& f) {
  if (rung_signals() != 0) [[unlikely]] {
    here.innermost = &f;
    answer(here.construct);
  }
  here.innermost = &f;
}

}  // namespace cleave::detail
