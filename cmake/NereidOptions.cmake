# SPDX-License-Identifier: Apache-2.0
# Options, warnings, sanitizers and the packages found once for the whole build.
option(NEREID_TESTS "Build the unit tests" ON)
option(NEREID_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
option(NEREID_BENCHES "Build the micro-benchmarks" OFF)
set(NEREID_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NEREID_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${NEREID_CCACHE}")
endif()
find_program(NEREID_MOLD mold)
if(NEREID_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(nereid_warnings INTERFACE)
target_compile_options(nereid_warnings INTERFACE
  -Wall -Wextra -Werror -Wpedantic -Wshadow -Wno-psabi -fno-strict-aliasing)

if(NEREID_SANITIZE)
  add_compile_options("-fsanitize=${NEREID_SANITIZE}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${NEREID_SANITIZE}")
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(NEREID_TESTS)
  find_package(GTest REQUIRED)
endif()
