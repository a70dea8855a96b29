// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/answer_reader.h"

#include <utility>

namespace nereid::server::openai {

AnswerReader::AnswerReader(const ThoughtOptions& thoughts, std::unique_ptr<ToolParser> tools)
    : tools_(std::move(tools)), drops_thoughts_(thoughts.is_dropped) {
  if (thoughts.format) thoughts_.emplace(*thoughts.format, thoughts.is_inside);
}

void AnswerReader::read(const TextOutput& output, const Markers& markers, ToolEvents* events) {
  std::string text = output.text;
  const auto marker = markers.find(output.token);
  if (marker != markers.end() && text.find(marker->second) == std::string::npos) text += marker->second;
  if (thoughts_) {
    std::string thought, answer;
    const bool was_thinking = thoughts_->is_thinking();
    thoughts_->push(text, &thought, &answer);
    if (output.is_last) thoughts_->finish(&thought, &answer);
    if (output.token >= 0 && (was_thinking || thoughts_->is_thinking())) ++thought_tokens_;
    if (!thought.empty() && !drops_thoughts_) events->push_back({ToolEvent::Kind::kThought, std::move(thought)});
    text = std::move(answer);
  }
  if (!tools_) {
    if (!text.empty()) events->push_back({ToolEvent::Kind::kContent, std::move(text)});
    return;
  }
  tools_->push(text, events);
  if (output.is_last) tools_->finish(events);
}

}  // namespace nereid::server::openai
