# CLEAVE_BRANCHES: the option that lets no jump cross a 32-byte boundary, or nothing where the compiler
# or the assembler does not take it. Such jumps are slow on Intel's processors from Skylake to Cascade
# Lake (the JCC erratum): up to 1.4 times for loops of a few instructions. For what is built here; users
# are told in docs/install.md. A build with a sanitizer goes without it: nobody measures
# there, and with it Clang takes twice as long to compile the library.
include(CheckCXXCompilerFlag)
set(CLEAVE_BRANCHES "")
if(NOT CLEAVE_SANITIZE AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(option -Wa,-mbranches-within-32B-boundaries)
  else()
    set(option -mbranches-within-32B-boundaries)
  endif()
  check_cxx_compiler_flag(${option} cleave_takes_branches)
  if(cleave_takes_branches)
    set(CLEAVE_BRANCHES ${option})
  endif()
endif()
