# Every public header compiles alone, and twice in one file; two files that include everything link,
# one of them after the macros of many other headers.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/*.hpp)
list(APPEND headers cleave/version.hpp)
list(REMOVE_DUPLICATES headers)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/headers)

function(write_if_changed file text)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)  # leaves an unchanged file alone
endfunction()

set(alone "")
set(everything "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name ${header})
  write_if_changed(${folder}/${name}.cpp "#include <${header}>\n#include <${header}>\n")
  list(APPEND alone ${folder}/${name}.cpp)
  string(APPEND everything "#include <${header}>\n")
endforeach()
add_library(headers_alone OBJECT ${alone})
target_link_libraries(headers_alone PRIVATE cleave::cleave cleave_warnings)
for_slow_tests(headers_alone)

write_if_changed(${folder}/all_headers_1.cpp "${everything}int second();\nint main() { return second(); }\n")
write_if_changed(${folder}/all_headers_2.cpp
  "#include \"${PROJECT_SOURCE_DIR}/tests/packaging/macros.hpp\"\n${everything}int second();\nint second() { return 0; }\n")
add_executable(test-all-headers ${folder}/all_headers_1.cpp ${folder}/all_headers_2.cpp)
target_link_libraries(test-all-headers PRIVATE cleave::cleave cleave_warnings)
set_target_properties(test-all-headers PROPERTIES CXX_EXTENSIONS ON  # as CMake has it for users
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
add_test(NAME headers/two_files_include_everything COMMAND test-all-headers)
