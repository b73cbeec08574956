# Every C++ listing of README.md and docs/*.md is compiled and run; see listings.sh. So is what they load.
find_program(python python3 NO_CACHE)
if(CLEAVE_SANITIZE)
  set(python python-NOTFOUND)  # it has no sanitizer's runtime, which a library would need
endif()
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/*.md)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/listings)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages} ${PROJECT_SOURCE_DIR}/cmake/listings.sh)
foreach(page IN LISTS pages)
  execute_process(COMMAND bash ${PROJECT_SOURCE_DIR}/cmake/listings.sh ${page} ${folder} RESULT_VARIABLE status ERROR_VARIABLE message)
  if(status)
    message(FATAL_ERROR "${message}")
  endif()
  get_filename_component(name ${page} NAME_WE)
  file(GLOB libraries ${folder}/${name}-*.cc)
  foreach(library IN LISTS libraries)
    get_filename_component(listing ${library} NAME_WE)
    string(REPLACE "${name}-" "" output ${listing})
    add_library(listing-${listing} MODULE ${library})
    target_link_libraries(listing-${listing} PRIVATE cleave::cleave)
    set_target_properties(listing-${listing} PROPERTIES OUTPUT_NAME ${output}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
  endforeach()
  if(python)
    file(GLOB programs ${folder}/${name}-*.py)
    foreach(program IN LISTS programs)
      get_filename_component(listing ${program} NAME_WE)
      add_test(NAME listings/${listing} COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${python};${program}"
        -DEXPECTED=${folder}/${listing}.expected -P ${PROJECT_SOURCE_DIR}/cmake/run_listing.cmake
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
    endforeach()
  endif()
  file(GLOB programs ${folder}/${name}-*.cpp)
  if(NOT CLEAVE_SANITIZE)  # the command is not built under TSan, and takes long to link
    file(GLOB tascell_programs ${folder}/${name}-*.tc)
    foreach(program IN LISTS tascell_programs)
      cleave_tascell_source(${program} generated)
      list(APPEND programs ${generated})
    endforeach()
  endif()
  foreach(program IN LISTS programs)
    get_filename_component(listing ${program} NAME_WE)
    # Users' programs: no warnings target here, only what the tutorial tells them.
    add_executable(listing-${listing} ${program})
    target_link_libraries(listing-${listing} PRIVATE cleave::cleave ${CMAKE_DL_LIBS})
    set_target_properties(listing-${listing} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
    add_test(NAME listings/${listing} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:listing-${listing}>
      -DEXPECTED=${folder}/${listing}.expected -P ${PROJECT_SOURCE_DIR}/cmake/run_listing.cmake
      WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
    if(CLEAVE_SANITIZE AND libraries)  # what a library never destroys, 80 bytes, is lost when it is unloaded
      set_tests_properties(listings/${listing} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
    endif()
  endforeach()
endforeach()
