// How Open MPI's progress loop is watched. Every wait, of whichever call and within whichever
// collective algorithm, calls opal_progress() until it is over. opal_progress() calls sched_yield()
// if it has found nothing, provided that it was told to (the parameter mpi_yield_when_idle);
// libopen-pal finds both here first.
#include <dlfcn.h>
#include <sched.h>

#include "cosched/interpose.hpp"

namespace cleave::cosched::progress {

// Open MPI looks at some sources in every eighth turn only.
const unsigned tests = 9;
const char* const libraries[] = {"libmpi.so.40", nullptr};

namespace {

thread_local bool in_look = false, found = false;

}  // namespace

bool watch() noexcept {
  auto* const tell =
      reinterpret_cast<void (*)(bool)>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  if (tell == nullptr) return false;
  tell(true);
  return true;
}

/// Without this call Open MPI asks only now and then, until it has talked to another node.
void ask_always() noexcept {
  auto* const tell =
      reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "opal_progress_event_users_increment"));
  if (tell != nullptr) tell();
}

}  // namespace cleave::cosched::progress

using namespace cleave::cosched;

// Open MPI 4 returns nothing, later versions an int: what is in the register is passed on.
extern "C" [[gnu::visibility("default")]] int opal_progress() {
  static auto* const real = reinterpret_cast<int (*)()>(next_function("opal_progress"));
  if (!this_rank.is_watched() && !progress::asked.is_watched()) return real();
  this_rank.about_to_look();
  progress::in_look = progress::found = true;
  progress::begin_look();
  const int result = real();
  const bool came = progress::end_look();
  progress::in_look = false;
  if (!this_rank.is_watched()) return result;
  // What came from another node does not count as found in Open MPI 4.
  progress::found || came ? this_rank.found_something() : this_rank.found_nothing();
  return result;
}

extern "C" [[gnu::visibility("default")]] int sched_yield() noexcept {
  static auto* const real = reinterpret_cast<int (*)()>(next_function("sched_yield"));
  if (!progress::in_look) return real();
  progress::found = false;
  return 0;
}
