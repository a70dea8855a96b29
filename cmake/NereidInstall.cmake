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
install(DIRECTORY include/nereid DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# The libraries, for find_package(nereid) and for pkg-config.
include(CMakePackageConfigHelpers)
set(NEREID_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/nereid")
install(TARGETS nereid_shared EXPORT nereid-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${CMAKE_BINARY_DIR}/lib/libnereid.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT nereid-targets NAMESPACE nereid:: DESTINATION "${NEREID_PACKAGE_DIR}")
get_property(NEREID_STATIC_LINKS GLOBAL PROPERTY NEREID_STATIC_LINKS)
list(JOIN NEREID_STATIC_LINKS " " NEREID_STATIC_LINKS_TEXT)
configure_package_config_file(cmake/nereid-config.cmake.in "${CMAKE_BINARY_DIR}/nereid-config.cmake"
  INSTALL_DESTINATION "${NEREID_PACKAGE_DIR}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/nereid-config-version.cmake" COMPATIBILITY SameMinorVersion)
# The prefix is known when it is installed.
install(CODE "set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
set(PROJECT_VERSION \"${PROJECT_VERSION}\")
set(NEREID_STATIC_LINKS_TEXT \"${NEREID_STATIC_LINKS_TEXT}\")
configure_file(\"${PROJECT_SOURCE_DIR}/cmake/nereid.pc.in\" \"${CMAKE_BINARY_DIR}/nereid.pc\" @ONLY)")
install(FILES "${CMAKE_BINARY_DIR}/nereid-config.cmake" "${CMAKE_BINARY_DIR}/nereid-config-version.cmake"
  DESTINATION "${NEREID_PACKAGE_DIR}")
install(FILES "${CMAKE_BINARY_DIR}/nereid.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
