# SPDX-License-Identifier: Apache-2.0
# The CUDA plugin, with NEREID_CUDA: libnereid_cuda.so beside the program, which loads it at run time.
#
# nereid_cuda_module(NAME): the *.cu and *.cc of the calling folder (tests and benchmarks aside) as objects of the plugin.
#   One source a kernel; each is compiled for every architecture of NEREID_CUDA_ARCHITECTURES, and once to PTX, which the
#   driver compiles for GPUs that are newer.
set(NEREID_CUDA_ARCHITECTURES "80;89;90a" CACHE STRING "GPUs that the plugin has machine code for")
set(NEREID_CUDA_PTX "90" CACHE STRING "the architecture of its PTX")

if(NEREID_CUDA)
  find_program(NEREID_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
  if(NOT NEREID_NVCC)
    message(FATAL_ERROR "NEREID_CUDA needs nvcc, which is neither on the PATH nor in /usr/local/cuda/bin: install the CUDA toolkit 13, or name its folder with CUDA_HOME.")
  endif()
  set(CMAKE_CUDA_COMPILER "${NEREID_NVCC}")
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)

  set(NEREID_CUDA_FLAGS --expt-relaxed-constexpr -Xcompiler=-fvisibility=hidden)
  foreach(architecture IN LISTS NEREID_CUDA_ARCHITECTURES)
    list(APPEND NEREID_CUDA_FLAGS "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  list(APPEND NEREID_CUDA_FLAGS "-gencode=arch=compute_${NEREID_CUDA_PTX},code=compute_${NEREID_CUDA_PTX}")
endif()

function(nereid_cuda_module name)
  if(NOT NEREID_CUDA)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cu" "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|harness)\\.(cu|cc)$|/test_[^/]*$")
  set(target "nereid_${name}")
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${NEREID_CUDA_FLAGS}>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fvisibility=hidden>")
  _nereid_check_layers(${target} "${CMAKE_CURRENT_SOURCE_DIR}")
  set_property(GLOBAL APPEND PROPERTY NEREID_CUDA_MODULES ${target})
endfunction()

# After all modules. The program is not linked against it; building the program builds it.
function(nereid_cuda_plugin)
  if(NOT NEREID_CUDA)
    return()
  endif()
  get_property(modules GLOBAL PROPERTY NEREID_CUDA_MODULES)
  add_library(nereid_cuda SHARED)
  foreach(module IN LISTS modules)
    target_sources(nereid_cuda PRIVATE "$<TARGET_OBJECTS:${module}>")
  endforeach()
  set(folder "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(NEREID_PROGRAM_DIR)
    set(folder "${NEREID_PROGRAM_DIR}")
  endif()
  set_target_properties(nereid_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static LINKER_LANGUAGE CUDA
    LIBRARY_OUTPUT_DIRECTORY "${folder}")
  target_link_options(nereid_cuda PRIVATE "LINKER:--no-undefined" "LINKER:--exclude-libs,ALL")
  add_dependencies(nereid nereid_cuda)
endfunction()
