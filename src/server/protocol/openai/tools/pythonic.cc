// SPDX-License-Identifier: Apache-2.0
// Llama 3.2 and 4 where they write Python: the whole answer is [f(a=1, b="x"), g()]. A call is told once it is whole.
#include "server/protocol/openai/tools/call_reader.h"
#include "server/protocol/openai/tools/formats.h"
#include "server/protocol/openai/tools/python_literal.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kMarks[] = {"<|python_start|>", "<|python_end|>", "<|python_tag|>"};
constexpr size_t kMaxName = 128;

class PythonicParser final : public ToolParser {
 public:
  explicit PythonicParser(ToolNames names) : names_(std::move(names)) {}

  void push(std::string_view text, ToolEvents* out) override {
    pending_ += text;
    while (step(out)) {
    }
  }

  void finish(ToolEvents* out) override {
    if (place_ != Place::kAfterList) add_content(taken_ + pending_, out);
    pending_.clear();
  }

 private:
  enum class Place : uint8_t { kBegin, kCall, kNext, kAfterList, kContent };

  // True: there is more to do with what is pending.
  bool step(ToolEvents* out) {
    switch (place_) {
      case Place::kBegin:
        take_spaces();
        if (is_held_for_mark()) return false;
        if (take_mark()) return true;
        if (!pending_.starts_with('[')) return give_back(out), true;
        take(1);
        place_ = Place::kCall;
        return true;
      case Place::kCall:
        return call(out);
      case Place::kNext:
        take_spaces();
        if (pending_.empty()) return false;
        if (pending_[0] != ',' && pending_[0] != ']') return give_back(out), true;
        place_ = pending_[0] == ',' ? Place::kCall : Place::kAfterList;
        pending_.erase(0, 1);
        taken_.clear();
        return true;
      case Place::kAfterList:
        skip_spaces(&pending_);
        if (pending_.empty() || is_held_for_mark()) return false;
        if (take_mark()) {
          taken_.clear();
          return true;
        }
        place_ = Place::kContent;
        return true;
      case Place::kContent:
        add_content(pending_, out);
        pending_.clear();
        return false;
    }
    return false;
  }

  bool call(ToolEvents* out) {
    take_spaces();
    const size_t open = pending_.find_first_of("(,[]{}\n\"' ");
    if (open == std::string::npos) {
      if (pending_.size() < kMaxName) return false;
      return give_back(out), true;
    }
    if (pending_[open] != '(' || !is_tool(names_, pending_.substr(0, open))) return give_back(out), true;
    // Closed outside of strings: what is between the brackets is Python's to read.
    for (; seen_ < pending_.size(); ++seen_) {
      const char c = pending_[seen_];
      if (escaped_) {
        escaped_ = false;
      } else if (quote_ != '\0') {
        escaped_ = c == '\\';
        if (c == quote_) quote_ = '\0';
      } else if (c == '"' || c == '\'') {
        quote_ = c;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if ((c == ')' || c == ']' || c == '}') && --depth_ == 0) {
        break;
      }
    }
    if (seen_ == pending_.size()) return false;
    const std::string_view inside = std::string_view(pending_).substr(open + 1, seen_ - open - 1);
    const std::optional<std::string> arguments = keywords_as_json(inside);
    if (!arguments) return give_back(out), true;
    out->push_back({ToolEvent::Kind::kCall, pending_.substr(0, open)});
    out->push_back({ToolEvent::Kind::kArguments, *arguments});
    pending_.erase(0, seen_ + 1);
    taken_.clear();
    seen_ = 0;
    place_ = Place::kNext;
    return true;
  }

  bool is_held_for_mark() const {
    if (pending_.empty()) return true;
    for (const std::string_view mark : kMarks)
      if (pending_.size() < mark.size() && mark.starts_with(pending_)) return true;
    return false;
  }
  bool take_mark() {
    for (const std::string_view mark : kMarks) {
      if (!pending_.starts_with(mark)) continue;
      take(mark.size());
      return true;
    }
    return false;
  }
  void take(size_t bytes) {
    taken_.append(pending_, 0, bytes);
    pending_.erase(0, bytes);
  }
  void take_spaces() { take(std::min(pending_.find_first_not_of(" \n\r\t"), pending_.size())); }
  void give_back(ToolEvents* out) {
    add_content(taken_, out);
    taken_.clear();
    place_ = Place::kContent;
  }

  ToolNames names_;
  Place place_ = Place::kBegin;
  std::string taken_;  // what content gets back if there is no call
  // Of the call at hand: how far its end has been looked for.
  size_t seen_ = 0;
  int depth_ = 0;
  char quote_ = '\0';
  bool escaped_ = false;
  std::string pending_;
};

}  // namespace

std::unique_ptr<ToolParser> make_pythonic(ToolNames names) {
  return std::make_unique<PythonicParser>(std::move(names));
}

}  // namespace nereid::server::openai
