// SPDX-License-Identifier: Apache-2.0
// The page to chat with: the files of web/chat in one, which asks no other server for anything.
#pragma once

#include <string>
#include <string_view>

namespace nereid::server::openai {

// The parts that the build puts into the program (chat_page_parts.cc.in).
struct ChatPageParts {
  std::string_view html;  // with marks where the others go
  std::string_view style;
  std::string_view script;
};
extern const ChatPageParts kChatPageParts;

std::string chat_page_text(const ChatPageParts& parts = kChatPageParts);

}  // namespace nereid::server::openai
