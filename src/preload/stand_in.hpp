#pragma once

/// Stands in front of MPI's functions.
///
/// CLEAVE_STAND_IN(space, type, full) defines the function `full`, whose calls go to
/// space::type<Name>::told, where Name::text is the function's name. `space` is a namespace.

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): names to declare
// A definition needs no list of parameters if it is found by a resolver: MPI's header has the
// types.
#define CLEAVE_STAND_IN(space, type, full)                                          \
  namespace space {                                                                 \
  namespace {                                                                       \
  struct name_of_##full {                                                           \
    static constexpr const char* text = #full;                                      \
  };                                                                                \
  }                                                                                 \
  }                                                                                 \
  extern "C" {                                                                      \
  [[gnu::visibility("hidden")]] decltype(&full) resolve_##full() {                  \
    return &space::type<space::name_of_##full>::told;                               \
  }                                                                                 \
  [[gnu::ifunc("resolve_" #full), gnu::visibility("default")]] decltype(full) full; \
  }
// Each function has both names: a program calls one, a tool that stands between calls the other.
#define CLEAVE_STAND_INS_OF(space, type, name) \
  CLEAVE_STAND_IN(space, type, MPI_##name)     \
  CLEAVE_STAND_IN(space, type, PMPI_##name)
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
