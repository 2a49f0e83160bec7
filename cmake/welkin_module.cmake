# welkin_module(NAME DEPENDS a b LIBS x y)
#
# One static library per room: src/NAME/**/*.cpp, doors in include/welkin/NAME. DEPENDS is the architecture: the
# modules whose doors this one may include. tests/house holds the same table against every #include.
# LIBS are third-party targets that only this room sees.
function(welkin_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    add_library(welkin_${name} INTERFACE)
    target_link_libraries(welkin_${name} INTERFACE welkin_flags)
    return()
  endif()
  add_library(welkin_${name} STATIC ${sources})
  target_include_directories(welkin_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(welkin_${name} PUBLIC welkin_flags)
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(welkin_${name} PUBLIC welkin_${dep})
  endforeach()
  target_link_libraries(welkin_${name} PRIVATE ${ARG_LIBS})
endfunction()

# welkin_test(NAME SOURCES a.cpp LIBS welkin_files ...): one GoogleTest binary a suite, found by scripts/test.
function(welkin_test name)
  cmake_parse_arguments(ARG "OPTIMIZED" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # Half of the time of a sanitized build went into optimizing tests, which wait for the server anyway.
  if(WELKIN_SANITIZE AND NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE welkin_flags ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# welkin_bench(NAME SOURCES a.cpp LIBS ...): one Google Benchmark binary a gate.
function(welkin_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE welkin_flags ${ARG_LIBS} benchmark::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benches)
  add_dependencies(welkin_benches ${name})
endfunction()
