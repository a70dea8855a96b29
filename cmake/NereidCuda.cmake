# SPDX-License-Identifier: Apache-2.0
# The CUDA plugin, with NEREID_CUDA: libnereid_cuda.so beside the program, which loads it at run time.
#
# nereid_cuda_module(NAME): the *.cu and *.cc of the calling folder (tests and benchmarks aside) as objects of the plugin.
#   One source a kernel; each is compiled for every architecture of NEREID_CUDA_ARCHITECTURES, and once to PTX, which the
#   driver compiles for GPUs that are newer.
# nvcc is called as what it is, a compiler: CMake 3.25 does not know the dialects of CUDA 13's.
set(NEREID_CUDA_ARCHITECTURES "80;89;90a" CACHE STRING "GPUs that the plugin has machine code for")
set(NEREID_CUDA_PTX "90" CACHE STRING "the architecture of its PTX; empty: none")

if(NEREID_CUDA)
  find_program(NEREID_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
  if(NOT NEREID_NVCC)
    message(FATAL_ERROR "NEREID_CUDA needs nvcc, which is neither on the PATH nor in /usr/local/cuda/bin: install the CUDA toolkit 13, or name its folder with CUDA_HOME.")
  endif()
  set(NEREID_NVCC_COMMAND "${NEREID_NVCC}" -std=c++20 -O3 --expt-relaxed-constexpr --compress-mode=size "-ccbin=${CMAKE_CXX_COMPILER}"
    -Xcompiler=-fPIC,-fvisibility=hidden "-I${PROJECT_SOURCE_DIR}/src")
  foreach(architecture IN LISTS NEREID_CUDA_ARCHITECTURES)
    list(APPEND NEREID_NVCC_COMMAND "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  if(NEREID_CUDA_PTX)
    list(APPEND NEREID_NVCC_COMMAND "-gencode=arch=compute_${NEREID_CUDA_PTX},code=compute_${NEREID_CUDA_PTX}")
  endif()
endif()

# With NEREID_CUDA_CHECK and nvcc at hand, but no plugin wanted: each source is compiled to PTX (two CPU minutes for all
# of them, a third of what machine code takes), so that `make test` finds what does not compile. Without nvcc: nothing.
function(_nereid_cuda_check name)
  find_program(NEREID_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
  if(NOT NEREID_NVCC)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cu")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cu$|/test_[^/]*$")
  set(checked "")
  foreach(source IN LISTS sources)
    get_filename_component(file "${source}" NAME)
    set(ptx "${CMAKE_BINARY_DIR}/cuda/${name}/${file}.ptx")
    add_custom_command(
      OUTPUT "${ptx}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/cuda/${name}"
      COMMAND "${NEREID_NVCC}" -ptx -std=c++20 -O1 --expt-relaxed-constexpr "-ccbin=${CMAKE_CXX_COMPILER}" -arch=compute_90a
              "-I${PROJECT_SOURCE_DIR}/src" -MD -MF "${ptx}.d" "${source}" -o "${ptx}"
      DEPENDS "${source}"
      DEPFILE "${ptx}.d"
      COMMENT "CUDA ${name}/${file} (checked)"
      VERBATIM)
    list(APPEND checked "${ptx}")
  endforeach()
  add_custom_target(nereid_${name}_compiles ALL DEPENDS ${checked})
endfunction()

function(nereid_cuda_module name)
  if(NOT NEREID_CUDA)
    if(NEREID_CUDA_CHECK)
      _nereid_cuda_check(${name})
    endif()
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cu" "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.(cu|cc)$|/test_[^/]*$")
  set(objects "")
  foreach(source IN LISTS sources)
    get_filename_component(file "${source}" NAME)
    set(object "${CMAKE_BINARY_DIR}/cuda/${name}/${file}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/cuda/${name}"
      COMMAND ${NEREID_NVCC_COMMAND} -MD -MF "${object}.d" -c "${source}" -o "${object}"
      DEPENDS "${source}"
      DEPFILE "${object}.d"
      COMMENT "CUDA ${name}/${file}"
      VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY NEREID_CUDA_OBJECTS ${objects})
  add_custom_target(nereid_${name} DEPENDS ${objects})
  _nereid_check_layers(nereid_${name} "${CMAKE_CURRENT_SOURCE_DIR}")
  set_property(GLOBAL APPEND PROPERTY NEREID_CUDA_MODULES nereid_${name})
endfunction()

# After all modules. The program is not linked against it; building the program builds it.
function(nereid_cuda_plugin)
  if(NOT NEREID_CUDA)
    return()
  endif()
  set(folder "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(NEREID_PROGRAM_DIR)
    set(folder "${NEREID_PROGRAM_DIR}")
  endif()
  get_property(objects GLOBAL PROPERTY NEREID_CUDA_OBJECTS)
  get_property(modules GLOBAL PROPERTY NEREID_CUDA_MODULES)
  set(plugin "${folder}/libnereid_cuda.so")
  add_custom_command(
    OUTPUT "${plugin}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    COMMAND ${NEREID_NVCC_COMMAND} -shared -cudart static -Xlinker --exclude-libs,ALL -Xlinker --no-undefined -o "${plugin}" ${objects}
    DEPENDS ${objects}
    COMMENT "CUDA plugin ${plugin}"
    VERBATIM)
  add_custom_target(nereid_cuda DEPENDS "${plugin}")
  add_dependencies(nereid_cuda ${modules})
  if(TARGET nereid)
    add_dependencies(nereid nereid_cuda)
  endif()
endfunction()
