# SPDX-License-Identifier: Apache-2.0
# nereid_chat_page(OUTPUT): makes a source file that holds the page to chat with, from web/chat.
include(NereidPage)

function(nereid_chat_page output)
  _nereid_page_parts(chat "markdown;stream;main")
  configure_file("${PROJECT_SOURCE_DIR}/src/server/protocol/openai/endpoints/chat_page_parts.cc.in" "${output}" @ONLY)
endfunction()
