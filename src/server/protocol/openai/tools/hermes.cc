// SPDX-License-Identifier: Apache-2.0
// Hermes, Qwen 2 and 3: <tool_call>\n{"name": "f", "arguments": {...}}\n</tool_call>, as often as there are calls.
#include <optional>

#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kBegin = "<tool_call>";
constexpr std::string_view kEnd = "</tool_call>";

class HermesParser final : public ToolParser {
 public:
  explicit HermesParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kCall && !call_->has_begun()) give_back(out);
    if (place_ == Place::kContent) content_.finish(&pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kContent, kCall, kAfterCall };

  // True: there is more to do with what is pending.
  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kContent:
        if (!content_.read(&pending_, out)) return false;
        call_.emplace(names_);
        place_ = Place::kCall;
        return true;
      case Place::kCall: {
        const CallReader::State state = call_->read(&pending_, out);
        if (state == CallReader::State::kOpen) return false;
        if (call_->has_begun())
          place_ = Place::kAfterCall;
        else
          give_back(out);
        return true;
      }
      case Place::kAfterCall:
        if (!skip_end(&pending_, kEnd)) return false;
        content_.after_call();
        place_ = Place::kContent;
        return true;
    }
    return false;
  }

  void give_back(ToolEvents* out) {
    add_content(content_.dropped() + std::string(kBegin) + call_->taken(), out);
    place_ = Place::kContent;
  }

  ToolNames names_;
  ContentReader content_{std::string(kBegin)};
  std::optional<CallReader> call_;
  Place place_ = Place::kContent;
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_hermes(ToolNames names) {
  return std::make_unique<HermesParser>(std::move(names));
}

ToolFrame hermes_frame(std::string_view name) {
  return {.begin = std::string(kBegin) + "\n{\"name\": \"" + std::string(name) + "\", \"arguments\": ",
          .end = "}\n" + std::string(kEnd),
          .trigger = std::string(kBegin)};
}

}  // namespace nereid::server::openai
