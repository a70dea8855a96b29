// SPDX-License-Identifier: Apache-2.0
// Llama 3.1 and later: the whole answer is {"name": "f", "parameters": {...}}, several divided by ';', sometimes after
// <|python_tag|>.
#include <optional>
#include <utility>

#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kTag = "<|python_tag|>";

class Llama3Parser final : public ToolParser {
 public:
  explicit Llama3Parser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ == Place::kCall && !call_->has_begun()) give_back(out);
    if (place_ == Place::kBegin || place_ == Place::kContent) add_content(skipped_ + pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kBegin, kCall, kAfterCall, kContent };

  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kBegin: {
        const size_t spaces = std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size());
        skipped_ += pending_.substr(0, spaces);
        pending_.erase(0, spaces);
        if (pending_.size() < kTag.size() && kTag.starts_with(pending_)) return false;
        if (pending_.starts_with(kTag)) {
          pending_.erase(0, kTag.size());
          skipped_.clear();
          return true;
        }
        begin_call_or_content(out);
        return true;
      }
      case Place::kCall: {
        const CallReader::State state = call_->read(&pending_, out);
        if (state == CallReader::State::kOpen) return false;
        if (call_->has_begun())
          place_ = Place::kAfterCall;
        else
          give_back(out);
        return true;
      }
      case Place::kAfterCall: {
        const size_t at = pending_.find_first_not_of(" \n\r\t;");
        pending_.erase(0, std::min(at, pending_.size()));
        if (pending_.empty()) return false;
        skipped_.clear();
        begin_call_or_content(out);
        return true;
      }
      case Place::kContent:
        add_content(pending_, out);
        pending_.clear();
        return false;
    }
    return false;
  }

  void begin_call_or_content(ToolEvents* out) {
    if (pending_.starts_with('{')) {
      call_.emplace(names_);
      place_ = Place::kCall;
      return;
    }
    add_content(std::exchange(skipped_, {}), out);
    place_ = Place::kContent;
  }

  void give_back(ToolEvents* out) {
    add_content(std::exchange(skipped_, {}) + call_->taken(), out);
    place_ = Place::kContent;
  }

  ToolNames names_;
  std::optional<CallReader> call_;
  Place place_ = Place::kBegin;
  std::string skipped_;  // spaces that belong to the content, if that is what comes
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_llama3(ToolNames names) {
  return std::make_unique<Llama3Parser>(std::move(names));
}

ToolFrame llama3_frame(std::string_view name) {
  return {
      .begin = "{\"name\": \"" + std::string(name) + "\", \"parameters\": ", .end = "}", .trigger = "{\"name\": \""};
}

}  // namespace nereid::server::openai
