# SPDX-License-Identifier: Apache-2.0
# nereid_chat_page(OUTPUT): makes a source file that holds the page to chat with, from web/chat.
function(nereid_chat_page output)
  set(folder "${PROJECT_SOURCE_DIR}/web/chat")
  set(scripts markdown stream main)
  list(TRANSFORM scripts PREPEND "${folder}/")
  list(TRANSFORM scripts APPEND ".js")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/page.html" "${folder}/style.css" ${scripts})

  file(READ "${folder}/page.html" NEREID_PAGE_HTML)
  file(READ "${folder}/style.css" NEREID_PAGE_STYLE)
  set(NEREID_PAGE_SCRIPT "")
  foreach(script IN LISTS scripts)
    file(READ "${script}" text)
    string(APPEND NEREID_PAGE_SCRIPT "${text}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/src/server/protocol/openai/endpoints/chat_page_parts.cc.in" "${output}" @ONLY)
endfunction()
