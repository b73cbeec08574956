# cleave_tascell(TARGET FILE.tc…)
#
# Adds Tascell programs (docs/tascell.md) to the sources of a target, and links Cleave.
function(cleave_tascell target)
  if(NOT TARGET ${target} OR NOT ARGN)
    message(FATAL_ERROR "cleave_tascell(${target} ${ARGN}): expected a target and FILE.tc…")
  endif()
  foreach(file IN LISTS ARGN)
    cleave_tascell_source(${file} generated)
    target_sources(${target} PRIVATE ${generated})
    get_filename_component(folder ${file} ABSOLUTE)
    get_filename_component(folder ${folder} DIRECTORY)
    target_include_directories(${target} PRIVATE ${folder})  # for what it includes from beside it
  endforeach()
  target_link_libraries(${target} PRIVATE cleave::cleave)
endfunction()

# cleave_tascell_source(FILE.tc RESULT): sets RESULT to the C++ file that is made of it when the build needs it.
function(cleave_tascell_source file result)
  get_filename_component(path ${file} ABSOLUTE)
  get_filename_component(name ${file} NAME)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  if(TARGET cleave::command)  # an installed one
    set(command cleave::command)
  elseif(CLEAVE_BUILD_APPS)
    set(command cleave_command)
  else()
    message(FATAL_ERROR "cleave_tascell: expected the command cleave; Cleave was built without it (CLEAVE_BUILD_APPS=OFF)")
  endif()
  set(translated ${generated})
  if(CMAKE_GENERATOR MATCHES "Ninja")  # it knows what has not changed: a new command compiles only what it translates anew
    set(translated ${generated}.new COMMAND ${CMAKE_COMMAND} -E copy_if_different ${generated}.new ${generated})
  endif()
  add_custom_command(OUTPUT ${generated} COMMAND ${command} tascell ${path} -o ${translated}
    DEPENDS ${path} ${command} COMMENT "Translating ${name}" VERBATIM)
  set(${result} ${generated} PARENT_SCOPE)
endfunction()
