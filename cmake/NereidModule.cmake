# SPDX-License-Identifier: Apache-2.0
# nereid_module(NAME [HEAVY_TEST] [DEPENDS module...] [LINKS target...] [EXCLUDE file...] [TEST_DEPENDS module...] [TEST_LINKS target...])
#   HEAVY_TEST: its test computes enough to be worth -O3.
#   One folder, one library. Every *.cc of the calling folder belongs to it, except
#   x_test.cc (one test program a module), x_fuzz.cc (one libFuzzer program each) and x_bench.cc (one program a module).
#   NAME is the folder's path under src with '/' written as '_': llm/token is llm_token.
#
# What comes with it:
#   nereid_NAME        the library; it is compiled only if tools/check_layers finds its includes allowed
#   NAME_test          a ctest test of that name; labelled "parser" when the folder has a fuzzer
#   x_fuzz             with NEREID_FUZZERS (clang): the fuzzer; all of them hang on the target nereid_fuzzers
#   x_fuzz_replay      otherwise: the same entry point run over tests/corpus/x_fuzz, a ctest test labelled "parser"
#   NAME_bench         with NEREID_BENCHES
# nereid_parser_tests builds the tests labelled "parser" and nothing else.
include(GoogleTest)
find_package(Python3 COMPONENTS Interpreter REQUIRED)

add_custom_target(nereid_parser_tests)
if(NEREID_FUZZERS)
  add_custom_target(nereid_fuzzers)
endif()

# Runs tools/check_layers over one folder whenever a file in it changes; `target` waits for it.
function(_nereid_check_layers target folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.h" "${folder}/*.cc" "${folder}/*.cuh" "${folder}/*.cu")
  set(stamp "${CMAKE_BINARY_DIR}/layers/${target}.ok")
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_layers" --quiet ${sources}
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${sources} "${PROJECT_SOURCE_DIR}/tools/check_layers"
    COMMENT "Layers of ${target}"
    VERBATIM)
  add_custom_target(${target}_layers DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_layers)
endfunction()

# The fuzzer of one x_fuzz.cc, or, in a build without libFuzzer, the replay of its committed corpus.
function(_nereid_fuzzer target source)
  get_filename_component(stem "${source}" NAME_WE)
  if(NEREID_FUZZERS)
    add_executable(${stem} "${source}")
    target_link_libraries(${stem} PRIVATE ${target} nereid_warnings)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    add_dependencies(nereid_fuzzers ${stem})
    return()
  endif()
  file(GLOB corpus CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/corpus/${stem}/*")
  if(NEREID_TESTS AND corpus)
    add_executable(${stem}_replay "${source}" "${PROJECT_SOURCE_DIR}/cmake/fuzz_replay_main.cc")
    target_link_libraries(${stem}_replay PRIVATE ${target} nereid_warnings)
    add_test(NAME ${stem}_replay COMMAND ${stem}_replay "${PROJECT_SOURCE_DIR}/tests/corpus/${stem}")
    set_tests_properties(${stem}_replay PROPERTIES LABELS parser TIMEOUT 120)
    add_dependencies(nereid_parser_tests ${stem}_replay)
  endif()
endfunction()

function(nereid_module name)
  cmake_parse_arguments(ARG "HEAVY_TEST" "" "DEPENDS;LINKS;EXCLUDE;TEST_DEPENDS;TEST_LINKS" ${ARGN})
  file(GLOB all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(lib "")
  set(tests "")
  set(fuzzers "")
  set(benches "")
  foreach(f IN LISTS all)
    get_filename_component(base "${f}" NAME)
    if(base IN_LIST ARG_EXCLUDE)
      continue()
    elseif(f MATCHES "_test\\.cc$")
      list(APPEND tests "${f}")
    elseif(f MATCHES "_fuzz\\.cc$")
      list(APPEND fuzzers "${f}")
    elseif(f MATCHES "_bench\\.cc$")
      list(APPEND benches "${f}")
    else()
      list(APPEND lib "${f}")
    endif()
  endforeach()

  set(target "nereid_${name}")
  list(TRANSFORM ARG_DEPENDS PREPEND "nereid_" OUTPUT_VARIABLE depends)
  list(TRANSFORM ARG_TEST_DEPENDS PREPEND "nereid_" OUTPUT_VARIABLE test_depends)

  if(lib)
    add_library(${target} STATIC ${lib})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} PUBLIC ${depends} ${ARG_LINKS} PRIVATE nereid_warnings)
    set_property(GLOBAL APPEND PROPERTY NEREID_MODULE_TARGETS ${target})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} INTERFACE ${depends} ${ARG_LINKS})
  endif()
  _nereid_check_layers(${target} "${CMAKE_CURRENT_SOURCE_DIR}")

  if(NEREID_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE
      ${target} ${test_depends} ${ARG_TEST_LINKS} nereid_warnings GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name}_test PRIVATE NEREID_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(NOT ARG_HEAVY_TEST)
      nereid_cold(${name}_test)
    endif()
    add_test(NAME ${name} COMMAND ${name}_test WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
    if(fuzzers)
      set_tests_properties(${name} PROPERTIES LABELS parser)
      add_dependencies(nereid_parser_tests ${name}_test)
    endif()
  endif()
  foreach(f IN LISTS fuzzers)
    _nereid_fuzzer(${target} "${f}")
  endforeach()
  if(NEREID_BENCHES AND benches)
    find_package(benchmark REQUIRED)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE ${target} nereid_warnings benchmark::benchmark_main)
  endif()
endfunction()

# The test program can count what it allocates (base/test_allocations.h).
function(nereid_counts_allocations program)
  if(TARGET ${program})
    target_sources(${program} PRIVATE "${PROJECT_SOURCE_DIR}/src/base/allocation_count_test.cc")
  endif()
endfunction()
