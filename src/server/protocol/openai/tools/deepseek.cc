// SPDX-License-Identifier: Apache-2.0
// DeepSeek. Since V3.1 a call is f<｜tool▁sep｜>{...}; V3 and R1 write function<｜tool▁sep｜>f, and the arguments below
// it as a block of code. Each stands between marks of its own, all of them between two more.
#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kCallsBegin = "<｜tool▁calls▁begin｜>";
constexpr std::string_view kCallBegin = "<｜tool▁call▁begin｜>";
constexpr std::string_view kSeparator = "<｜tool▁sep｜>";
constexpr std::string_view kCallEnd = "<｜tool▁call▁end｜>";
constexpr std::string_view kCallsEnd = "<｜tool▁calls▁end｜>";
constexpr std::string_view kCode = "```json";
constexpr std::string_view kCodeEnd = "```";
constexpr size_t kMaxName = 128;

class DeepSeekParser final : public ToolParser {
 public:
  explicit DeepSeekParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kCall || place_ == Place::kHead) give_back(out);
    if (place_ == Place::kContent) content_.finish(&pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kContent, kCall, kHead, kBeforeArguments, kArguments, kAfterArguments, kAfterCall };

  // True: there is more to do with what is pending.
  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kContent:
        if (!content_.read(&pending_, out)) return false;
        taken_ = content_.dropped() + std::string(kCallsBegin);
        place_ = Place::kCall;
        return true;
      case Place::kCall:
        return call(out);
      case Place::kHead:
        return head(out);
      case Place::kBeforeArguments:
        if (!skip_end(&pending_, kCode)) return false;
        place_ = Place::kArguments;
        return true;
      case Place::kArguments:
        if (!arguments_.read(&pending_, out)) return false;
        place_ = Place::kAfterArguments;
        return true;
      case Place::kAfterArguments:
        if (!skip_end(&pending_, kCodeEnd)) return false;
        place_ = Place::kAfterCall;
        return true;
      case Place::kAfterCall:
        if (!skip_end(&pending_, kCallEnd)) return false;
        taken_.clear();
        place_ = Place::kCall;
        return true;
    }
    return false;
  }

  // A call begins, or there is no more.
  bool call(ToolEvents* out) {
    const size_t spaces = std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size());
    take(spaces);
    if (pending_.starts_with(kCallBegin)) {
      take(kCallBegin.size());
      place_ = Place::kHead;
      return true;
    }
    if (pending_.starts_with(kCallsEnd) && has_called_) {
      pending_.erase(0, kCallsEnd.size());
      taken_.clear();
      end_calls();
      return true;
    }
    for (const std::string_view mark : {kCallBegin, kCallsEnd})
      if (mark.starts_with(pending_)) return false;
    give_back(out);
    return true;
  }

  bool head(ToolEvents* out) {
    const size_t separator = pending_.find(kSeparator);
    if (separator == std::string::npos) {
      if (pending_.size() < kMaxName) return false;
      give_back(out);
      return true;
    }
    const std::string word = pending_.substr(0, separator);
    size_t begin = separator + kSeparator.size(), end = begin;
    std::string name = word;
    if (word == "function") {
      end = pending_.find('\n', begin);
      if (end == std::string::npos && pending_.size() < begin + kMaxName) return false;
      name = end == std::string::npos ? "" : pending_.substr(begin, end - begin);
    }
    if (!is_tool(names_, name)) {
      give_back(out);
      return true;
    }
    out->push_back({ToolEvent::Kind::kCall, name});
    pending_.erase(0, end);
    arguments_ = {};
    has_called_ = true;
    place_ = Place::kBeforeArguments;
    return true;
  }

  void take(size_t bytes) {
    taken_.append(pending_, 0, bytes);
    pending_.erase(0, bytes);
  }
  void end_calls() {
    content_.after_call();
    has_called_ = false;
    place_ = Place::kContent;
  }
  void give_back(ToolEvents* out) {
    // Spaces alone, after a call, belong to neither.
    if (taken_.find_first_not_of(" \n\r\t") != std::string::npos) {
      add_content(taken_, out);
      place_ = Place::kContent;
      has_called_ = false;
    } else {
      end_calls();
    }
    taken_.clear();
  }

  ToolNames names_;
  ContentReader content_{std::string(kCallsBegin)};
  ArgumentsReader arguments_;
  Place place_ = Place::kContent;
  bool has_called_ = false;
  std::string taken_;  // marks that content gets back if they were none
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_deepseek(ToolNames names) {
  return std::make_unique<DeepSeekParser>(std::move(names));
}

}  // namespace nereid::server::openai
