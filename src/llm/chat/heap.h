// SPDX-License-Identifier: Apache-2.0
// The memory and the budget of one rendering: everything a template makes lives here until the rendering ends.
//
// Makers never fail: past the budget they hand out truncated text and set a flag that the interpreter looks at before
// its next step, so a hostile template ends with a sentence instead of eating the machine. Not thread-safe: one a
// rendering.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/chat/value.h"

namespace nereid::chat {

struct Limits {
  size_t memory_bytes = 256u << 20;  // all text and containers made, never less than 64 times the input
  size_t output_bytes = 64u << 20;   // the rendered prompt
  size_t work_units = 50'000'000;    // a unit is an expression evaluated or some 32 bytes looked at
  int depth = 1200;                  // nested expressions, statements and macro calls: up to 1 MiB of stack
};

class Heap {
 public:
  explicit Heap(const Limits& limits) : limits_(limits) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Owns the bytes from here on.
  Value text(std::string bytes);
  Value sequence(Kind kind, std::vector<Value> items, std::string_view label = {});
  Value list(std::vector<Value> items) { return sequence(Kind::kList, std::move(items)); }
  Value tuple(std::vector<Value> items) { return sequence(Kind::kTuple, std::move(items)); }
  Value generator(std::vector<Value> items) { return sequence(Kind::kGenerator, std::move(items), "generator"); }
  Value dict(Kind kind = Kind::kDict);
  Value method(const FunctionRow* row, const Value& receiver);
  // An undefined value whose message is the sentence.
  Value undefined(std::string sentence);

  // Counts memory or work; false (for good) once the budget is spent.
  bool take(size_t bytes);
  bool work(size_t units);
  bool is_spent() const { return spent_ != nullptr; }
  // kExhausted with a sentence once is_spent(), ok before.
  Status status() const;
  const Limits& limits() const { return limits_; }

 private:
  const Limits limits_;
  size_t bytes_ = 0;
  size_t work_ = 0;
  const char* spent_ = nullptr;
  std::deque<std::string> texts_;
  std::deque<Sequence> sequences_;
  std::deque<Dict> dicts_;
  std::deque<Method> methods_;
};

// Builds one text within the heap's budget; what goes beyond is dropped.
class TextBuilder {
 public:
  explicit TextBuilder(Heap& heap) : heap_(heap) {}
  TextBuilder& add(std::string_view bytes);
  TextBuilder& add(char byte) { return add(std::string_view(&byte, 1)); }
  TextBuilder& repeat(std::string_view bytes, size_t count);
  Heap& heap() { return heap_; }
  const std::string& str() const { return text_; }
  Value finish() { return heap_.text(std::move(text_)); }
  std::string take() { return std::move(text_); }

 private:
  Heap& heap_;
  std::string text_;
};

}  // namespace nereid::chat
