# SPDX-License-Identifier: Apache-2.0
# nereid_isa_sources(TARGET file...): compiles each file once per instruction set and adds the objects to TARGET.
# Inside, NEREID_ISA names the namespace (baseline, avx2, avx512) and NEREID_ISA_HEADER the vector header to include.
# A kernel that only one instruction set has (AMX tiles) is added with nereid_single_isa_sources(TARGET ISA file...).
# The ctest test TARGET_ISA_isolation looks into the objects for what could leak into the rest of the program
# (tools/check_isa says what and why).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(NEREID_ISAS baseline avx2 avx512)
  set(NEREID_ISA_FLAGS_baseline "")
  set(NEREID_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
  set(NEREID_ISA_FLAGS_avx512 -mavx2 -mfma -mf16c -mbmi2 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mprefer-vector-width=512)
  set(NEREID_ISA_FLAGS_avx512bf16 ${NEREID_ISA_FLAGS_avx512} -mavx512bf16)
  set(NEREID_ISA_FLAGS_avx512vbmi ${NEREID_ISA_FLAGS_avx512} -mavx512vbmi)
  set(NEREID_ISA_FLAGS_amx ${NEREID_ISA_FLAGS_avx512} -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16)
else()
  set(NEREID_ISAS baseline)
  set(NEREID_ISA_FLAGS_baseline "")
endif()

function(nereid_single_isa_sources target isa)
  add_library(${target}_${isa} OBJECT ${ARGN})
  target_include_directories(${target}_${isa} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  # With sanitizers -O3 takes minutes a file.
  target_compile_options(${target}_${isa} PRIVATE ${NEREID_ISA_FLAGS_${isa}} $<$<NOT:$<CONFIG:Sanitize>>:-O3>
    # GCC 12 warns about its own _mm512_undefined_ps.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>)
  target_compile_definitions(${target}_${isa} PRIVATE
    NEREID_ISA=${isa} NEREID_ISA_HEADER="kernels/cpu/simd/${isa}.h")
  target_link_libraries(${target}_${isa} PRIVATE nereid_warnings)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${isa}>)
  # Sanitizers keep functions that are inlined otherwise; their builds run where they were made.
  if(NEREID_TESTS AND NOT NEREID_SANITIZE AND NOT isa STREQUAL "baseline")
    add_test(NAME ${target}_${isa}_isolation COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/tools/check_isa"
      ${isa} $<TARGET_OBJECTS:${target}_${isa}> COMMAND_EXPAND_LISTS)
  endif()
endfunction()

function(nereid_isa_sources target)
  foreach(isa IN LISTS NEREID_ISAS)
    nereid_single_isa_sources(${target} ${isa} ${ARGN})
  endforeach()
endfunction()
