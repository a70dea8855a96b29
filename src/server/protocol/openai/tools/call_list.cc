// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/tools/call_list.h"

#include <utility>

namespace nereid::server::openai {

CallList::State CallList::read(std::string* pending, ToolEvents* out) {
  while (state_ == State::kOpen && !pending->empty()) {
    if (place_ == Place::kItem) {
      const CallReader::State state = call_->read(pending, out);
      if (state == CallReader::State::kOpen) break;
      if (state == CallReader::State::kDone) {
        taken_.clear();
        place_ = Place::kNext;
        continue;
      }
      if (!call_->has_begun()) taken_ += call_->taken();
      call_.reset();
      return state_ = State::kBroken;
    }
    const char c = (*pending)[0];
    const bool is_begin = place_ == Place::kBegin && c == '[';
    const bool is_next = place_ == Place::kNext && c == ',';
    const bool is_end = place_ == Place::kNext && c == ']';
    if (!is_space(c) && !is_begin && !is_next && !is_end) return state_ = State::kBroken;
    taken_ += c;
    pending->erase(0, 1);
    if (is_end) return state_ = State::kDone;
    if (is_begin || is_next) {
      call_.emplace(names_);
      place_ = Place::kItem;
    }
  }
  return state_;
}

namespace {

// The answer is nothing but the list: a grammar saw to it.
class ListParser final : public ToolParser {
 public:
  explicit ListParser(ToolNames names) : names_(std::move(names)), list_(names_) {}
  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    list_.read(&pending_, out);
  }
  void finish(ToolEvents*) override {}

 private:
  ToolNames names_;
  CallList list_;
  std::string pending_;
};

class NamedParser final : public ToolParser {
 public:
  explicit NamedParser(std::string name) : name_(std::move(name)) {}
  void push(std::string_view text, ToolEvents* out) override {
    if (text.empty()) return;
    begin(out);
    out->push_back({ToolEvent::Kind::kArguments, std::string(text)});
  }
  void finish(ToolEvents* out) override { begin(out); }

 private:
  void begin(ToolEvents* out) {
    if (!std::exchange(has_begun_, true)) out->push_back({ToolEvent::Kind::kCall, name_});
  }
  std::string name_;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<ToolParser> make_call_list(ToolNames names) {
  return std::make_unique<ListParser>(std::move(names));
}

std::unique_ptr<ToolParser> make_named_call(std::string name) {
  return std::make_unique<NamedParser>(std::move(name));
}

}  // namespace nereid::server::openai
