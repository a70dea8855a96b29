# SPDX-License-Identifier: Apache-2.0
# nereid_precompile(): the library headers that nearly every file includes are parsed once for all modules, not a
# thousand times: a third less to do in a build from nothing. Call it when every target is known.
#
# A file still includes what it uses: the presets dev, asan, tsan and fuzz build without.
# Compilers take such a header only under the very flags it was made with, so there is one a set of flags; kernels that
# are compiled per instruction set go without.
option(NEREID_PRECOMPILED "Parse the library headers once for the whole build" OFF)

if(NEREID_PRECOMPILED AND NEREID_CCACHE)
  # Without this the cache refuses whatever includes a precompiled header.
  list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 3 "CCACHE_SLOPPINESS=pch_defines,time_macros")
endif()

# A target that does nothing but hold the precompiled headers of targets with the same flags.
function(_nereid_precompiled holder cold)
  add_library(${holder} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cc")
  target_link_libraries(${holder} PRIVATE fmt::fmt nereid_warnings)
  target_include_directories(${holder} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_precompile_headers(${holder} PRIVATE <algorithm> <array> <charconv> <cmath> <cstddef> <cstdint> <cstring>
    <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <unordered_map>
    <utility> <variant> <vector> <fmt/core.h> "${PROJECT_SOURCE_DIR}/src/base/status.h")
  if(cold)
    nereid_cold(${holder})
  endif()
endfunction()

function(nereid_precompile)
  if(NOT NEREID_PRECOMPILED)
    return()
  endif()
  get_property(targets GLOBAL PROPERTY NEREID_MODULE_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(options MATCHES "(^|;)-f[a-z]")  # code is made in another way there
      continue()
    endif()
    get_target_property(cold ${target} NEREID_COLD)
    set(holder nereid_precompiled)
    if(cold)
      string(APPEND holder "_cold")
    endif()
    if(NOT TARGET ${holder})
      _nereid_precompiled(${holder} ${cold})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${holder})
    # -fpch-preprocess: as ccache needs it. In a precompiled header GCC 12 takes the library's code for the program's, and
    # warns of memchr in a string_view that was shortened.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
  endforeach()
endfunction()
