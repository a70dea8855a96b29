# SPDX-License-Identifier: Apache-2.0
# _nereid_page_parts(FOLDER SCRIPTS): sets what a page of web/FOLDER is made of: NEREID_PAGE_HTML, _STYLE and _SCRIPT,
# the scripts (names without .js) in that order. A change of a file configures again.
function(_nereid_page_parts folder scripts)
  set(folder "${PROJECT_SOURCE_DIR}/web/${folder}")
  list(TRANSFORM scripts PREPEND "${folder}/")
  list(TRANSFORM scripts APPEND ".js")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/page.html" "${folder}/style.css" ${scripts})
  file(READ "${folder}/page.html" html)
  file(READ "${folder}/style.css" style)
  set(script "")
  foreach(one IN LISTS scripts)
    file(READ "${one}" text)
    string(APPEND script "${text}")
  endforeach()
  set(NEREID_PAGE_HTML "${html}" PARENT_SCOPE)
  set(NEREID_PAGE_STYLE "${style}" PARENT_SCOPE)
  set(NEREID_PAGE_SCRIPT "${script}" PARENT_SCOPE)
endfunction()
