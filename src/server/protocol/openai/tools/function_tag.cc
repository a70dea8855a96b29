// SPDX-License-Identifier: Apache-2.0
// Llama 3.1's own way of custom tools, and Functionary 3.1's: <function=f>{...}</function>, as often as there are
// calls.
#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kBegin = "<function=";
constexpr std::string_view kEnd = "</function>";
constexpr size_t kMaxName = 128;

class FunctionTagParser final : public ToolParser {
 public:
  explicit FunctionTagParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kName) give_back(out);
    if (place_ == Place::kContent) content_.finish(&pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kContent, kName, kArguments, kAfterCall };

  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kContent:
        if (!content_.read(&pending_, out)) return false;
        place_ = Place::kName;
        return true;
      case Place::kName: {
        const size_t end = pending_.find('>');
        if (end == std::string::npos && pending_.size() < kMaxName) return false;
        if (end == std::string::npos || !is_tool(names_, pending_.substr(0, end))) {
          give_back(out);
          return true;
        }
        out->push_back({ToolEvent::Kind::kCall, pending_.substr(0, end)});
        pending_.erase(0, end + 1);
        arguments_ = {};
        place_ = Place::kArguments;
        return true;
      }
      case Place::kArguments:
        if (!arguments_.read(&pending_, out)) return false;
        place_ = Place::kAfterCall;
        return true;
      case Place::kAfterCall:
        if (!skip_end(&pending_, kEnd)) return false;
        content_.after_call();
        place_ = Place::kContent;
        return true;
    }
    return false;
  }

  void give_back(ToolEvents* out) {
    add_content(content_.dropped() + std::string(kBegin), out);
    place_ = Place::kContent;
  }

  ToolNames names_;
  ContentReader content_{std::string(kBegin)};
  ArgumentsReader arguments_;
  Place place_ = Place::kContent;
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_function_tag(ToolNames names) {
  return std::make_unique<FunctionTagParser>(std::move(names));
}

ToolFrame function_tag_frame(std::string_view name) {
  return {
      .begin = std::string(kBegin) + std::string(name) + ">", .end = std::string(kEnd), .trigger = std::string(kBegin)};
}

}  // namespace nereid::server::openai
