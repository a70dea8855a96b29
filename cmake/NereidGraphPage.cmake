# SPDX-License-Identifier: Apache-2.0
# nereid_graph_page(OUTPUT): makes a source file that holds the page of graphs, from web/graph and from dagre, which
# scripts/fetch_dagre puts under build/. Without dagre the page lays every graph out by itself.
include(NereidPage)

function(nereid_graph_page output)
  _nereid_page_parts(graph "data;layout;scopes;canvas;details;tables;main")
  set(dagre "${PROJECT_SOURCE_DIR}/build/dagre-0.8.5")
  set(NEREID_PAGE_DAGRE "")
  if(EXISTS "${dagre}/dagre.min.js" AND EXISTS "${dagre}/copyright")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${dagre}/dagre.min.js" "${dagre}/copyright")
    file(READ "${dagre}/dagre.min.js" text)
    file(READ "${dagre}/copyright" licence)
    set(NEREID_PAGE_DAGRE "/*! dagre 0.8.5\n${licence}*/\n${text}")
  else()
    message(STATUS "dagre is not in build/ (scripts/fetch_dagre fetches it): the page of `nereid view` lays graphs out itself")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cli/graph_page_parts.cc.in" "${output}" @ONLY)
endfunction()
