// SPDX-License-Identifier: Apache-2.0
// Functionary 3.2: parts that begin with >>> and whom they are for: "all\n" is content, "f\n{...}" a call. The prompt
// ends with the first >>>.
#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kBegin = ">>>";
constexpr size_t kMaxName = 128;

class FunctionaryParser final : public ToolParser {
 public:
  explicit FunctionaryParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kRecipient) add_content(pending_, out);
    if (place_ == Place::kContent) content_.finish(&pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kRecipient, kContent, kArguments, kAfterCall };

  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kRecipient: {
        if (pending_.starts_with(kBegin)) pending_.erase(0, kBegin.size());
        const size_t end = pending_.find('\n');
        if (end == std::string::npos && pending_.size() < kMaxName) return false;
        const std::string recipient = pending_.substr(0, end);
        if (is_tool(names_, recipient)) {
          out->push_back({ToolEvent::Kind::kCall, recipient});
          arguments_ = {};
          place_ = Place::kArguments;
        } else {
          place_ = Place::kContent;
        }
        if (recipient == "all" || place_ == Place::kArguments) pending_.erase(0, end + 1);
        return true;
      }
      case Place::kContent:
        if (!content_.read(&pending_, out)) return false;
        place_ = Place::kRecipient;
        return true;
      case Place::kArguments:
        if (!arguments_.read(&pending_, out)) return false;
        place_ = Place::kAfterCall;
        return true;
      case Place::kAfterCall: {
        pending_.erase(0, std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size()));
        if (pending_.size() < kBegin.size() && kBegin.starts_with(pending_)) return false;
        content_.after_call();
        place_ = Place::kContent;
        return true;
      }
    }
    return false;
  }

  ToolNames names_;
  ContentReader content_{std::string(kBegin)};
  ArgumentsReader arguments_;
  Place place_ = Place::kRecipient;
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_functionary(ToolNames names) {
  return std::make_unique<FunctionaryParser>(std::move(names));
}

ToolFrame functionary_frame(std::string_view name) {
  return {.begin = std::string(kBegin) + std::string(name) + "\n", .end = "", .trigger = std::string(kBegin)};
}

}  // namespace nereid::server::openai
