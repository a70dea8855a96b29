# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down, and where the program is left in the build tree.
include(GNUInstallDirs)
set(NEREID_PROGRAM_DIR "" CACHE PATH "Where the nereid program is left; empty: with the other programs, in the build tree")

if(TARGET nereid)
  if(NEREID_PROGRAM_DIR)
    set_target_properties(nereid PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${NEREID_PROGRAM_DIR}")
  endif()
  install(TARGETS nereid RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES scripts/models.json DESTINATION "${CMAKE_INSTALL_DATADIR}/nereid")
install(FILES LICENSE THIRD_PARTY.md README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(EXISTS "${PROJECT_SOURCE_DIR}/include/nereid/nereid.h")
  install(DIRECTORY include/nereid DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
endif()
