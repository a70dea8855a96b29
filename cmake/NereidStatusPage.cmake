# SPDX-License-Identifier: Apache-2.0
# nereid_status_page(OUTPUT): makes a source file that holds the page of a model repository's server, from web/status.
include(NereidPage)

function(nereid_status_page output)
  _nereid_page_parts(status "main")
  configure_file("${PROJECT_SOURCE_DIR}/src/server/host/status_page_parts.cc.in" "${output}" @ONLY)
endfunction()
