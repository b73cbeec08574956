# Where functions and loops begin in a cache line otherwise depends on all that is before them, and
# changes times by up to 15 %, in either form of a program.
set(CLEAVE_APP_ALIGNMENT -falign-functions=64 -falign-loops=64 ${CLEAVE_BRANCHES})

# cleave_app(NAME SOURCES file… [LIBRARIES target…] [VARIANT_LIBRARIES target…] [DEFINITIONS definition…] [STUDY])
#
# A program in bin/ that uses the public headers as a user would. It is one of the target `programs`; with STUDY one of the
# target `study_programs`, which only studies, benchmarks and slow tests run. Where CLEAVE_NATIVE_VARIANTS names
# it, there is a second one, NAME-native, of the same sources with -march=native, and with TARGET-native
# for each of VARIANT_LIBRARIES. Programs can tell
# which one they are by CLEAVE_APP_NATIVE (0 or 1) and their flags by CLEAVE_APP_FLAGS.
function(cleave_app name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STUDY" "" "SOURCES;LIBRARIES;VARIANT_LIBRARIES;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "cleave_app(${name}): expected SOURCES [LIBRARIES] [VARIANT_LIBRARIES] [DEFINITIONS], got: ${ARGN}")
  endif()
  set(variants ${name})
  if(CLEAVE_NATIVE_VARIANTS STREQUAL "ON" OR name IN_LIST CLEAVE_NATIVE_VARIANTS)
    list(APPEND variants ${name}-native)
  endif()
  string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${${flags_of_type}}" flags)
  foreach(variant IN LISTS variants)
    set(native 0)
    if(CLEAVE_NATIVE OR variant MATCHES "-native$")
      set(native 1)
    endif()
    add_executable(${variant} ${arg_SOURCES})
    target_link_libraries(${variant} PRIVATE cleave::cleave cleave_warnings ${arg_LIBRARIES})
    foreach(library IN LISTS arg_VARIANT_LIBRARIES)
      string(REPLACE "${name}" "${library}" library_variant ${variant})
      target_link_libraries(${variant} PRIVATE ${library_variant})
    endforeach()
    target_compile_options(${variant} PRIVATE ${CLEAVE_APP_ALIGNMENT})
    string(JOIN " " all_flags ${flags} ${CLEAVE_APP_ALIGNMENT})
    if(native)
      target_compile_options(${variant} PRIVATE -march=native)
      string(APPEND all_flags " -march=native")
    endif()
    target_compile_definitions(${variant} PRIVATE CLEAVE_APP_NATIVE=${native}
      "CLEAVE_APP_FLAGS=\"${all_flags}\"" ${arg_DEFINITIONS})
    if(arg_STUDY)
      set_target_properties(${variant} PROPERTIES EXCLUDE_FROM_ALL ON)
      add_dependencies(study_programs ${variant})
    elseif(TARGET programs)
      add_dependencies(programs ${variant})
    endif()
    set_target_properties(${variant} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endforeach()
endfunction()
