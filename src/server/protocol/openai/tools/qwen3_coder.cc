// SPDX-License-Identifier: Apache-2.0
// Qwen3-Coder: <tool_call>\n<function=f>\n<parameter=a>\nvalue\n</parameter>\n</function>\n</tool_call>, as often as
// there are calls. Values come without quotes: what they are the tool's schema says.
#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"
#include "server/protocol/openai/tools/untyped_value.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kBegin = "<tool_call>";
constexpr std::string_view kEnd = "</tool_call>";
constexpr std::string_view kFunction = "<function=";
constexpr std::string_view kFunctionEnd = "</function>";
constexpr std::string_view kParameter = "<parameter=";
constexpr std::string_view kParameterEnd = "</parameter>";
constexpr size_t kMaxName = 128;

class Qwen3CoderParser final : public ToolParser {
 public:
  explicit Qwen3CoderParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kHead) give_back(out);
    if (place_ == Place::kContent) content_.finish(&pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kContent, kHead, kParameters, kValue, kAfterCall };

  // True: there is more to do with what is pending.
  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kContent:
        if (!content_.read(&pending_, out)) return false;
        spaces_.clear();
        place_ = Place::kHead;
        return true;
      case Place::kHead:
        return function(out);
      case Place::kParameters:
        return parameters(out);
      case Place::kValue: {
        const size_t end = pending_.find(kParameterEnd);
        if (end == std::string::npos) return false;
        add_argument(std::string_view(pending_).substr(0, end), out);
        pending_.erase(0, end + kParameterEnd.size());
        place_ = Place::kParameters;
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

  bool function(ToolEvents* out) {
    const size_t spaces = std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size());
    spaces_ += pending_.substr(0, spaces);
    pending_.erase(0, spaces);
    if (pending_.size() < kFunction.size() && kFunction.starts_with(pending_)) return false;
    if (!pending_.starts_with(kFunction)) return give_back(out), true;
    const size_t end = pending_.find('>');
    if (end == std::string::npos && pending_.size() < kFunction.size() + kMaxName) return false;
    const std::string name = pending_.substr(kFunction.size(), std::min(end, pending_.size()) - kFunction.size());
    if (end == std::string::npos || !is_tool(names_, name)) return give_back(out), true;
    for (const ToolSignature& one : names_)
      if (one.name == name) types_ = ParameterTypes(one.parameters);
    out->push_back({ToolEvent::Kind::kCall, name});
    pending_.erase(0, end + 1);
    arguments_ = 0;
    place_ = Place::kParameters;
    return true;
  }

  bool parameters(ToolEvents* out) {
    skip_spaces(&pending_);
    for (const std::string_view mark : {kParameter, kFunctionEnd, kEnd})
      if (pending_.size() < mark.size() && mark.starts_with(pending_)) return false;
    if (pending_.starts_with(kParameter)) {
      const size_t end = pending_.find('>');
      if (end == std::string::npos && pending_.size() < kParameter.size() + kMaxName) return false;
      if (end != std::string::npos) {
        parameter_ = pending_.substr(kParameter.size(), end - kParameter.size());
        pending_.erase(0, end + 1);
        place_ = Place::kValue;
        return true;
      }
    }
    // What is no parameter ends the call, as its end does.
    if (pending_.starts_with(kFunctionEnd)) pending_.erase(0, kFunctionEnd.size());
    out->push_back({ToolEvent::Kind::kArguments, arguments_ == 0 ? "{}" : "}"});
    place_ = Place::kAfterCall;
    return true;
  }

  void add_argument(std::string_view value, ToolEvents* out) {
    // The line ends beside the marks are theirs.
    if (value.starts_with('\n')) value.remove_prefix(1);
    if (value.ends_with('\n')) value.remove_suffix(1);
    out->push_back({ToolEvent::Kind::kArguments, (arguments_++ == 0 ? "{" : ", ") + json_string(parameter_) + ": " +
                                                     types_.json(parameter_, value)});
  }

  void give_back(ToolEvents* out) {
    add_content(content_.dropped() + std::string(kBegin) + spaces_, out);
    place_ = Place::kContent;
  }

  ToolNames names_;
  ContentReader content_{std::string(kBegin)};
  ParameterTypes types_;
  Place place_ = Place::kContent;
  std::string spaces_, parameter_;
  size_t arguments_ = 0;
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_qwen3_coder(ToolNames names) {
  return std::make_unique<Qwen3CoderParser>(std::move(names));
}

ToolFrame qwen3_coder_frame(std::string_view name) {
  return {.begin = std::string(kBegin) + "\n" + std::string(kFunction) + std::string(name) + ">\n",
          .end = "\n" + std::string(kFunctionEnd) + "\n" + std::string(kEnd),
          .trigger = std::string(kBegin),
          .style = "qwen_xml"};
}

}  // namespace nereid::server::openai
