// SPDX-License-Identifier: Apache-2.0
// Makers of values and the accounting of what they cost.
#include "llm/chat/heap.h"

namespace nereid::chat {

bool Heap::take(size_t bytes) {
  if (spent_) return false;
  if (bytes > limits_.memory_bytes - bytes_) {
    spent_ = "memory";
    return false;
  }
  bytes_ += bytes;
  return true;
}

bool Heap::work(size_t units) {
  if (spent_) return false;
  if (units > limits_.work_units - work_) {
    spent_ = "work";
    return false;
  }
  work_ += units;
  return true;
}

Status Heap::status() const {
  if (!spent_) return Status::ok();
  if (std::string_view(spent_) == "memory") {
    return exhausted("the template makes more than {} MiB of text and lists.", limits_.memory_bytes >> 20);
  }
  return exhausted("the template takes more than {} million steps.", limits_.work_units / 1'000'000);
}

Value Heap::text(std::string bytes) {
  // A short string costs its object too. Bytes that a TextBuilder wrote are counted twice: a bound, not a bill.
  if (!take(bytes.size() + sizeof(std::string))) return Value::text({});
  return Value::text(texts_.emplace_back(std::move(bytes)));
}

Value Heap::sequence(Kind kind, std::vector<Value> items, std::string_view label) {
  if (!take(items.size() * sizeof(Value) + sizeof(Sequence))) items.clear();
  return Value::sequence(kind, &sequences_.emplace_back(Sequence{std::move(items), 0, label}));
}

Value Heap::dict(Kind kind) {
  take(sizeof(Dict));
  return Value::dict(&dicts_.emplace_back(), kind);
}

Value Heap::method(const FunctionRow* row, const Value& receiver) {
  take(sizeof(Method));
  return Value::method(&methods_.emplace_back(Method{row, receiver}));
}

Value Heap::undefined(std::string sentence) {
  return Value::undefined(Origin::kSentence, text(std::move(sentence)).as_text());
}

TextBuilder& TextBuilder::add(std::string_view bytes) {
  if (heap_.take(bytes.size())) text_.append(bytes);
  return *this;
}

TextBuilder& TextBuilder::repeat(std::string_view bytes, size_t count) {
  if (bytes.empty()) return *this;
  if (count > heap_.limits().memory_bytes / bytes.size()) {
    heap_.take(heap_.limits().memory_bytes + 1);
    return *this;
  }
  if (!heap_.take(bytes.size() * count)) return *this;
  text_.reserve(text_.size() + bytes.size() * count);
  for (size_t i = 0; i < count; ++i) text_.append(bytes);
  return *this;
}

}  // namespace nereid::chat
