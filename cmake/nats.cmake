# nats.c, for the plug-in by which nodes at several sites work together: the target cleave_nats_c if it is found.
#
#   CLEAVE_NATS  AUTO: if it is found, with nlohmann_json and OpenSSL 3, which nats.c uses; ON: an error if not; OFF
set(CLEAVE_NATS ${found_plugins} CACHE STRING "The plug-in for NATS: AUTO if nats.c is found, ON, OFF")
if(CLEAVE_NATS)
  find_path(CLEAVE_NATS_INCLUDE nats/nats.h)
  find_library(CLEAVE_NATS_LIBRARY nats)
  mark_as_advanced(CLEAVE_NATS_INCLUDE CLEAVE_NATS_LIBRARY)
  find_package(nlohmann_json CONFIG QUIET)
  find_package(OpenSSL 3 COMPONENTS SSL Crypto QUIET)
  if(CLEAVE_NATS_INCLUDE AND CLEAVE_NATS_LIBRARY AND nlohmann_json_FOUND AND OpenSSL_FOUND)
    # Not their own package: Debian's names a static library that it does not have.
    add_library(cleave_nats_c INTERFACE)
    target_include_directories(cleave_nats_c SYSTEM INTERFACE ${CLEAVE_NATS_INCLUDE})
    target_link_libraries(cleave_nats_c INTERFACE ${CLEAVE_NATS_LIBRARY})
    message(STATUS "cleave: NATS (${CLEAVE_NATS_LIBRARY})")
  elseif(CLEAVE_NATS STREQUAL "AUTO")
    message(STATUS "cleave: no nats.c, nlohmann_json or OpenSSL 3 found; programs run at one site "
      "(Debian: libnats-dev, nlohmann-json3-dev, libssl-dev)")
  else()
    message(FATAL_ERROR "CLEAVE_NATS=${CLEAVE_NATS}: no nats.c, nlohmann_json or OpenSSL 3 found "
      "(Debian: libnats-dev, nlohmann-json3-dev, libssl-dev)")
  endif()
endif()
