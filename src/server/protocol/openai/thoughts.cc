// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/thoughts.h"

#include <algorithm>
#include <utility>

#include "server/protocol/openai/tools/call_reader.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";

// "think": DeepSeek-R1, Qwen3, QwQ and most others; "mistral": Magistral; "command": Cohere's Command A.
constexpr ThoughtFormat kFormats[] = {
    {"think", "<think>", "</think>"},
    {"mistral", "[THINK]", "[/THINK]"},
    {"command", "<|START_THINKING|>", "<|END_THINKING|>"},
};

}  // namespace

std::span<const ThoughtFormat> thought_format_table() {
  return kFormats;
}

const ThoughtFormat* find_thought_format(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const ThoughtFormat& f) { return f.name == name; });
  return row == std::end(kFormats) ? nullptr : row;
}

bool ends_in_thought(const ThoughtFormat& format, std::string_view prompt_end) {
  const size_t last = prompt_end.find_last_not_of(kSpaces);
  return last != std::string_view::npos && prompt_end.substr(0, last + 1).ends_with(format.begin);
}

// True: there is more to do with what is pending.
bool ThoughtReader::step(std::string* thought, std::string* answer) {
  switch (place_) {
    case Place::kBegin:
    case Place::kMark: {
      // The mark may be told although the prompt has it.
      const size_t spaces = std::min(pending_.find_first_not_of(kSpaces), pending_.size());
      const std::string_view rest = std::string_view(pending_).substr(spaces);
      if (rest.size() < format_->begin.size() && format_->begin.starts_with(rest)) return false;
      if (rest.starts_with(format_->begin)) {
        pending_.erase(0, spaces + format_->begin.size());
        place_ = Place::kThought;
        is_inside_ = true;
      } else {
        place_ = is_inside_ ? Place::kThought : Place::kAnswer;
      }
      has_thought_ = false;
      return true;
    }
    case Place::kThought: {
      if (!has_thought_) pending_.erase(0, std::min(pending_.find_first_not_of(kSpaces), pending_.size()));
      const size_t end = pending_.find(format_->end);
      const bool is_end = end != std::string::npos;
      size_t certain = is_end ? end : pending_.size() - held_for(pending_, format_->end);
      while (certain > 0 && kSpaces.find(pending_[certain - 1]) != kSpaces.npos) --certain;
      thought->append(pending_, 0, certain);
      has_thought_ = has_thought_ || certain > 0;
      pending_.erase(0, is_end ? end + format_->end.size() : certain);
      if (is_end) place_ = Place::kAfter;
      return is_end;
    }
    case Place::kAfter:
      pending_.erase(0, std::min(pending_.find_first_not_of(kSpaces), pending_.size()));
      if (pending_.empty()) return false;
      place_ = Place::kAnswer;
      return true;
    case Place::kAnswer:
      *answer += std::exchange(pending_, {});
      return false;
  }
  return false;
}

void ThoughtReader::push(std::string_view text, std::string* thought, std::string* answer) {
  pending_ += text;
  while (step(thought, answer)) {
  }
}

void ThoughtReader::finish(std::string* thought, std::string* answer) {
  if (place_ == Place::kThought || (place_ == Place::kMark && is_inside_))
    *thought += pending_;
  else if (place_ != Place::kAfter)
    *answer += pending_;
  pending_.clear();
}

}  // namespace nereid::server::openai
