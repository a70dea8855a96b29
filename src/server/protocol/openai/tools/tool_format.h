// SPDX-License-Identifier: Apache-2.0
// How models write calls of tools into their text, and how that is read back while it comes.
//
// A parser takes an answer piece by piece, however it was cut, and tells content and calls apart as early as can be.
// What looked like a call and was none (a name that no tool has, broken JSON) comes out as content, unchanged.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::server::openai {

struct ToolEvent {
  enum class Kind : uint8_t {
    kContent,    // text of the answer
    kCall,       // a call begins; text is the tool's name
    kArguments,  // text is the next piece of its arguments, JSON
    kThought,    // text of what the model thinks before it answers; from no parser of tools
  };
  Kind kind;
  std::string text;
  friend bool operator==(const ToolEvent&, const ToolEvent&) = default;
};
using ToolEvents = std::vector<ToolEvent>;

class ToolParser {
 public:
  virtual ~ToolParser() = default;
  virtual void push(std::string_view text, ToolEvents* out) = 0;
  // The answer has ended: what was held back comes out.
  virtual void finish(ToolEvents* out) = 0;
};

// A tool that may be called. Formats that write arguments without their types read them by its schema.
struct ToolSignature {
  ToolSignature(std::string name_, std::string parameters_ = {})  // NOLINT: a name alone is a tool
      : name(std::move(name_)), parameters(std::move(parameters_)) {}
  ToolSignature(const char* name_) : name(name_) {}  // NOLINT
  std::string name;
  std::string parameters;  // a JSON schema; "": nothing is known of them
};
using ToolNames = std::vector<ToolSignature>;

// The text that an answer which holds a call of `name` begins with, up to the arguments, and what ends the call: what a
// grammar needs to hold a model to its tools.
struct ToolFrame {
  std::string begin;    // of a call of the named tool
  std::string end;      // after the arguments
  std::string trigger;  // the text upon which nothing but a begin may follow; "": no grammar can hold to this format
  std::string_view style = "json";  // of the arguments, as structural tags name it
};

struct ToolFormat {
  std::string_view name;  // as ModelCard::tool_format
  std::string_view help;  // an example
  std::unique_ptr<ToolParser> (*make)(ToolNames names);
  ToolFrame (*frame)(std::string_view name);
  // Tokens that stand for themselves here, although they give no text as special tokens.
  std::span<const std::string_view> markers;
  std::string_view id_prefix;  // of the ids of calls, which templates may be particular about
  size_t id_letters;           // after the prefix
};

std::span<const ToolFormat> tool_format_table();
// nullptr: there is none of that name.
const ToolFormat* find_tool_format(std::string_view name);

// Not formats of models but of grammars: the answer is the arguments of the one named tool, ...
std::unique_ptr<ToolParser> make_named_call(std::string name);
// ... or an array of {"name": ..., "parameters": ...}.
std::unique_ptr<ToolParser> make_call_list(ToolNames names);

}  // namespace nereid::server::openai
