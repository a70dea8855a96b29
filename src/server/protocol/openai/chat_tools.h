// SPDX-License-Identifier: Apache-2.0
// The tools of a chat: what may be called, whether it must be, and the grammars that see to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/sample/grammar_spec.h"
#include "server/protocol/openai/fields.h"
#include "server/protocol/openai/tools/tool_format.h"

namespace nereid::server::openai {

constexpr size_t kMaxTools = 256;  // the body is gone through for each

struct Tool {
  std::string name;
  std::string text;        // {"type":"function","function":{...}} as it was sent
  std::string parameters;  // the schema as it was sent; "": none
  bool is_strict = false;
};

enum class ToolChoice : uint8_t { kNone, kAuto, kRequired, kNamed };

struct ToolSet {
  std::vector<Tool> tools;
  ToolChoice choice = ToolChoice::kNone;
  std::string named;  // kNamed: which
  bool parallel = true;
  bool is_legacy = false;  // "functions" and "function_call", and answered in that form

  bool is_used() const { return choice != ToolChoice::kNone; }
  // With their schemas.
  ToolNames names() const;
  // The array that templates print: the tools that may be called.
  std::string json() const;
};

bool is_tool(const ToolSet& set, std::string_view name);

// tools, tool_choice, parallel_tool_calls; functions and function_call, which came before them. `body`: the body's
// text.
ToolSet read_tools(Fields& fields, std::string_view body);

// Name, description, parameters and strictness of one; its texts are the caller's to fill in.
Tool read_function(Fields& in);

// What holds the answer to a call: kRequired and kNamed always; kAuto once it begins a call, where `format` has a frame
// and the tools are strict or `always` says so. None otherwise.
sample::GrammarSpec tool_grammar(const ToolSet& set, const ToolFormat* format, bool always);

// Who reads the calls back. nullptr: there is nothing to read.
std::unique_ptr<ToolParser> tool_parser(const ToolSet& set, const ToolFormat* format);

}  // namespace nereid::server::openai
