// SPDX-License-Identifier: Apache-2.0
// Mistral: [TOOL_CALLS][{"name": "f", "arguments": {...}}, ...], and since its eleventh tokenizer
// [TOOL_CALLS]f[ARGS]{...} for each call, with or without [ARGS].
#include <optional>
#include <utility>

#include "server/protocol/openai/tools/call_list.h"
#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kCallsMark = "[TOOL_CALLS]";
constexpr std::string_view kArgumentsMark = "[ARGS]";
constexpr std::string_view kIdMark = "[CALL_ID]";

class MistralParser final : public ToolParser {
 public:
  explicit MistralParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kBegin || place_ == Place::kName) give_back(std::exchange(pending_, {}), out);
    if (place_ == Place::kList) give_back(list_->taken(), out);
    if (place_ == Place::kContent) content_.finish(&pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kContent, kBegin, kList, kName, kArguments };

  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kContent:
        if (!content_.read(&pending_, out)) return false;
        place_ = Place::kBegin;
        return true;
      case Place::kBegin: {
        pending_.erase(0, std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size()));
        if (pending_.empty()) return false;
        const bool is_list = pending_[0] == '[';
        if (is_list) list_.emplace(names_);
        place_ = is_list ? Place::kList : Place::kName;
        return true;
      }
      case Place::kList: {
        const CallList::State state = list_->read(&pending_, out);
        if (state == CallList::State::kOpen) return false;
        if (state == CallList::State::kBroken) give_back(list_->taken(), out);
        end_call();
        return true;
      }
      case Place::kName:
        return name(out);
      case Place::kArguments:
        if (!arguments_.read(&pending_, out)) return false;
        end_call();
        return true;
    }
    return false;
  }

  bool name(ToolEvents* out) {
    const size_t end = pending_.find_first_of("{[\n");
    if (end == std::string::npos && pending_.size() < 128) return false;
    if (end == std::string::npos || pending_[end] == '\n' || !is_tool(names_, pending_.substr(0, end))) {
      give_back("", out);
      return true;
    }
    // [CALL_ID]xxx may come between the name and the arguments.
    const size_t begin = pending_.find('{', end);
    if (begin == std::string::npos && pending_.size() < end + kArgumentsMark.size() + kIdMark.size() + 64) return false;
    if (begin == std::string::npos) {
      give_back("", out);
      return true;
    }
    out->push_back({ToolEvent::Kind::kCall, pending_.substr(0, end)});
    pending_.erase(0, begin);
    arguments_ = {};
    place_ = Place::kArguments;
    return true;
  }

  void end_call() {
    content_.after_call();
    place_ = Place::kContent;
  }
  void give_back(std::string_view text, ToolEvents* out) {
    add_content(content_.dropped() + std::string(kCallsMark) + std::string(text), out);
    place_ = Place::kContent;
  }

  ToolNames names_;
  ContentReader content_{std::string(kCallsMark)};
  std::optional<CallList> list_;
  ArgumentsReader arguments_;
  Place place_ = Place::kContent;
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_mistral(ToolNames names) {
  return std::make_unique<MistralParser>(std::move(names));
}

ToolFrame mistral_frame(std::string_view name) {
  return {.begin = std::string(kCallsMark) + "[{\"name\": \"" + std::string(name) + "\", \"arguments\": ",
          .end = "}]",
          .trigger = std::string(kCallsMark)};
}

}  // namespace nereid::server::openai
