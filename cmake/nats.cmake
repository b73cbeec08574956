# nats.c, for the plug-in by which nodes at several sites work together: the target cleave_nats_c if it is found.
#
#   CLEAVE_NATS  AUTO: if it is found, and nlohmann_json; ON: an error if not; OFF
set(CLEAVE_NATS AUTO CACHE STRING "The plug-in for NATS: AUTO if nats.c is found, ON, OFF")
if(CLEAVE_NATS)
  find_path(CLEAVE_NATS_INCLUDE nats/nats.h)
  find_library(CLEAVE_NATS_LIBRARY nats)
  mark_as_advanced(CLEAVE_NATS_INCLUDE CLEAVE_NATS_LIBRARY)
  find_package(nlohmann_json CONFIG QUIET)
  if(CLEAVE_NATS_INCLUDE AND CLEAVE_NATS_LIBRARY AND nlohmann_json_FOUND)
    # Not their own package: Debian's names a static library that it does not have.
    add_library(cleave_nats_c INTERFACE)
    target_include_directories(cleave_nats_c SYSTEM INTERFACE ${CLEAVE_NATS_INCLUDE})
    target_link_libraries(cleave_nats_c INTERFACE ${CLEAVE_NATS_LIBRARY})
    message(STATUS "cleave: NATS (${CLEAVE_NATS_LIBRARY})")
  elseif(CLEAVE_NATS STREQUAL "AUTO")
    message(STATUS "cleave: no nats.c or no nlohmann_json found; programs run at one site "
      "(Debian: libnats-dev, nlohmann-json3-dev)")
  else()
    message(FATAL_ERROR "CLEAVE_NATS=${CLEAVE_NATS}: no nats.c or no nlohmann_json found "
      "(Debian: libnats-dev, nlohmann-json3-dev)")
  endif()
endif()
