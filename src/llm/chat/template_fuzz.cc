// SPDX-License-Identifier: Apache-2.0
// Any bytes as a template: it parses or not, renders or not, but ends, within its budget.
#include <cstddef>
#include <cstdint>

#include "llm/chat/chat_template.h"
#include "llm/chat/heap.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::chat;
  if (size > 64 * 1024) return 0;
  const auto parsed = ChatTemplate::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!parsed) return 0;
  RenderInput input;
  input.messages =
      OrderedJson::parse(R"([{"role":"system","content":"S"},{"role":"user","content":"Gr\u00fc\u00dfe\n<x>"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"a":1.5,"b":[true]}}}]},
    {"role":"tool","content":"{\"r\": 1}"},{"role":"user","content":[{"type":"text","text":"part"}]}])");
  input.tools =
      OrderedJson::parse(R"([{"type":"function","function":{"name":"f","parameters":{"a":{"type":"number"}}}}])");
  input.add_generation_prompt = true;
  input.bos_token = "<s>";
  input.eos_token = "</s>";
  input.now = std::tm{};
  Limits limits;
  limits.memory_bytes = 4 << 20;
  limits.work_units = 200'000;
  limits.depth = 400;
  (void)parsed->render(input, limits);
  return 0;
}
