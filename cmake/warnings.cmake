# cleave_warnings: what this project asks of the compiler for its own sources. Users of the library never see it.
add_library(cleave_warnings INTERFACE)
target_compile_options(cleave_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wcast-qual
  -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wundef -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
  $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier>
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-macro-identifier>
  $<$<BOOL:${CLEAVE_WERROR}>:-Werror>)
# Memory for a tenth of the compiler's time: it collects garbage late.
target_compile_options(cleave_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=500000>)
if(CLEAVE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The instrumentation makes GCC see uninitialised variables where there are none, and it warns
  # about every fence under TSan.
  target_compile_options(cleave_warnings INTERFACE -Wno-maybe-uninitialized
    $<$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,11>:-Wno-error=tsan>)
endif()
