// SPDX-License-Identifier: Apache-2.0
// Any body is read to a request or to one error, and what a chat hands to a template is JSON.
#include <cstdint>

#include "base/check.h"
#include "server/protocol/openai/chat_request.h"
#include "server/protocol/openai/completion_request.h"

namespace nereid::server::openai {
namespace {

void read(std::string_view text) {
  FirstError unread;
  const Json body = read_body(text, &unread);
  if (unread.is_set()) return;
  FirstError error;
  read_completion(body, {.body = text}, &error);
  FirstError chat_error;
  const ChatRequest chat = read_chat(body, {.body = text}, &chat_error);
  if (chat_error.is_set()) {
    NEREID_CHECK(Json::accept(error_body(chat_error.get())));
    return;
  }
  NEREID_CHECK(Json::accept(template_messages(chat.messages)));
  NEREID_CHECK(Json::accept(chat.tools.json()));
  NEREID_CHECK(chat.variables.empty() || Json::accept(chat.variables));
  const sample::GrammarSpec grammar = tool_grammar(chat.tools, find_tool_format("hermes"), true);
  NEREID_CHECK(grammar.is_none() || Json::accept(grammar.text));
  with_tools_as_text(chat.messages, chat.tools.json());
}

}  // namespace
}  // namespace nereid::server::openai

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nereid::server::openai::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
