// SPDX-License-Identifier: Apache-2.0
// Any text, cut anywhere, gives the same content and calls in every format, and arguments only after a name.
#include <cstdint>

#include "base/check.h"
#include "server/protocol/openai/tools/tool_format.h"

namespace nereid::server::openai {
namespace {

std::string read(const ToolFormat& format, std::string_view text, size_t step) {
  const auto parser = format.make({"f", "weather"});
  ToolEvents events;
  for (size_t at = 0; at < text.size(); at += step) parser->push(text.substr(at, step), &events);
  parser->finish(&events);
  std::string content, calls;
  for (const ToolEvent& one : events) {
    if (one.kind == ToolEvent::Kind::kContent) content += one.text;
    if (one.kind == ToolEvent::Kind::kCall) calls += "\n" + one.text + ":";
    if (one.kind == ToolEvent::Kind::kArguments) {
      NEREID_CHECK(!calls.empty());
      calls += one.text;
    }
  }
  return content + calls;
}

}  // namespace
}  // namespace nereid::server::openai

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::server::openai;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size == 0) return 0;
  for (const ToolFormat& format : tool_format_table()) NEREID_CHECK(read(format, text, size) == read(format, text, 1));
  return 0;
}
