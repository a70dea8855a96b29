# SPDX-License-Identifier: Apache-2.0
# The libraries that are installed: libnereid.so, which shows the C interface and nothing else, and libnereid.a, which
# holds every module. Included by src/api, whose module is in nereid_api.

include(GNUInstallDirs)

# The static libraries among a target's dependencies, all the way down, and what they link from outside.
function(_nereid_closure target modules_out links_out)
  set(todo ${target})
  set(modules "")
  set(links "")
  while(todo)
    list(POP_FRONT todo one)
    if(NOT TARGET ${one})
      list(APPEND links "${one}")
      continue()
    endif()
    get_target_property(aliased ${one} ALIASED_TARGET)
    if(aliased)
      set(one ${aliased})
    endif()
    get_target_property(imported ${one} IMPORTED)
    if(imported)
      list(APPEND links ${one})
      continue()
    endif()
    if(one IN_LIST modules OR one STREQUAL "nereid_warnings")
      continue()
    endif()
    list(APPEND modules ${one})
    get_target_property(below ${one} INTERFACE_LINK_LIBRARIES)
    if(below)
      foreach(link IN LISTS below)
        if(NOT link MATCHES "^\\$<LINK_ONLY:nereid_warnings>$")
          string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
          list(APPEND todo "${link}")
        endif()
      endforeach()
    endif()
  endwhile()
  list(REMOVE_DUPLICATES links)
  set(${modules_out} "${modules}" PARENT_SCOPE)
  set(${links_out} "${links}" PARENT_SCOPE)
endfunction()

# What a program that links libnereid.a gives its linker besides, by the target that a module names.
set(link_flags
  "fmt::fmt=-lfmt" "OpenSSL::Crypto=-lcrypto" "Threads::Threads=-lpthread" "nlohmann_json::nlohmann_json="
  "ZLIB::ZLIB=-lz" "JPEG::JPEG=-ljpeg" "PkgConfig::WEBP=-lwebp" "PkgConfig::OPENJPEG=-lopenjp2"
  "PkgConfig::PCRE2=-lpcre2-8" "PkgConfig::UTF8PROC=-lutf8proc" "utf8proc=-lutf8proc" "protobuf::libprotobuf=-lprotobuf")

set(map "${PROJECT_SOURCE_DIR}/cmake/nereid.map")
add_library(nereid_shared SHARED $<TARGET_OBJECTS:nereid_api>)
get_target_property(below nereid_api INTERFACE_LINK_LIBRARIES)
list(FILTER below EXCLUDE REGEX "LINK_ONLY")
target_link_libraries(nereid_shared PRIVATE ${below})
target_link_options(nereid_shared PRIVATE "-Wl,--version-script=${map}")
if(NOT NEREID_SANITIZE AND NOT NEREID_FUZZERS)  # whose functions are the program's
  target_link_options(nereid_shared PRIVATE "-Wl,-z,defs")
endif()
set_target_properties(nereid_shared PROPERTIES OUTPUT_NAME nereid EXPORT_NAME nereid LINKER_LANGUAGE CXX
  LINK_DEPENDS "${map}" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib" VERSION ${PROJECT_VERSION}
  SOVERSION 1)
target_include_directories(nereid_shared INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

# One archive of all the modules' archives.
_nereid_closure(nereid_api modules links)
set(archive "${CMAKE_BINARY_DIR}/lib/libnereid.a")
set(archives "")
foreach(module IN LISTS modules)
  get_target_property(type ${module} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND archives ${module})
  endif()
endforeach()
list(TRANSFORM archives REPLACE "(.+)" "addlib $<TARGET_FILE:\\1>" OUTPUT_VARIABLE script)
list(JOIN script "\n" script)
file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/libnereid.mri" CONTENT "create ${archive}\n${script}\nsave\nend\n")
add_custom_command(OUTPUT "${archive}"
  COMMAND "${CMAKE_COMMAND}" -E rm -f "${archive}"
  COMMAND "${CMAKE_AR}" -M < "${CMAKE_CURRENT_BINARY_DIR}/libnereid.mri"
  DEPENDS ${archives}
  COMMENT "libnereid.a"
  VERBATIM)
add_custom_target(nereid_static ALL DEPENDS "${archive}")

# What the package's files say of it.
set(flags "")
foreach(link IN LISTS links)
  set(known ${link_flags})
  list(FILTER known INCLUDE REGEX "^${link}=")
  if(NOT known)
    message(AUTHOR_WARNING "cmake/NereidLibrary.cmake does not know what linking ${link} means for libnereid.a")
  endif()
  string(REGEX REPLACE "^.*=" "" flag "${known}")
  list(APPEND flags ${flag})
endforeach()
list(APPEND flags -lstdc++ -lm)
list(REMOVE_DUPLICATES flags)
set_property(GLOBAL PROPERTY NEREID_STATIC_LINKS "${flags}")
