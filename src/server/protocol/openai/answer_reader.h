// SPDX-License-Identifier: Apache-2.0
// What a choice's text is made of: thoughts, calls of tools, and what is said.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/core/text_model.h"
#include "server/protocol/openai/thoughts.h"
#include "server/protocol/openai/tools/tool_format.h"

namespace nereid::server::openai {

// Special tokens that readers want to see, and how: they give no text of their own.
using Markers = std::map<int32_t, std::string>;

// How thoughts are told.
enum class ThoughtUse : uint8_t { kSeparate, kInline, kDropped };

struct ThoughtOptions {
  const ThoughtFormat* format = nullptr;  // none: the model has no marks, or they stay in the answer
  bool is_inside = false;                 // the prompt ends within
  bool is_dropped = false;
};

class AnswerReader {
 public:
  AnswerReader() = default;
  AnswerReader(const ThoughtOptions& thoughts, std::unique_ptr<ToolParser> tools);

  // Nothing to look for: the text is what is said.
  bool is_plain() const { return !thoughts_ && !tools_; }
  // Appends what `output` tells; after the last one nothing is held back.
  void read(const TextOutput& output, const Markers& markers, ToolEvents* events);
  // Tokens that were thought.
  int64_t thought_tokens() const { return thought_tokens_; }

 private:
  std::optional<ThoughtReader> thoughts_;
  std::unique_ptr<ToolParser> tools_;
  bool drops_thoughts_ = false;
  int64_t thought_tokens_ = 0;
};

}  // namespace nereid::server::openai
