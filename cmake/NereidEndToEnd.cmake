# SPDX-License-Identifier: Apache-2.0
# nereid_end_to_end_tests(PREFIX TIMEOUT): one ctest test, PREFIX and its name, for each *_test.py of the calling
# folder: unittest cases that find the program in $NEREID. Python is that of the private environment (scripts/bootstrap
# test), where there is one: what needs its packages is skipped without it.
function(nereid_end_to_end_tests prefix timeout)
  if(NOT NEREID_TESTS)
    return()
  endif()
  set(python "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
  if(NOT EXISTS "${python}")
    set(python "${Python3_EXECUTABLE}")
  endif()
  file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.py")
  foreach(f IN LISTS tests)
    get_filename_component(name "${f}" NAME_WE)
    add_test(NAME ${prefix}${name} COMMAND "${python}" -B "${f}")
    set_tests_properties(${prefix}${name} PROPERTIES TIMEOUT ${timeout} ENVIRONMENT "NEREID=$<TARGET_FILE:nereid>")
  endforeach()
endfunction()
