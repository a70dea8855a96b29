// SPDX-License-Identifier: Apache-2.0
// Between JSON and values: json.dumps as transformers' tojson filter calls it, and the way in.
#pragma once

#include "base/status.h"
#include "llm/chat/chat_template.h"
#include "llm/chat/heap.h"
#include "llm/chat/value.h"

namespace nereid::chat {

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool is_indented = false;
  std::string_view indent;                 // one level
  std::string_view item_separator = ", ";  // "," when indented
  std::string_view key_separator = ": ";
};

// Errors: what JSON cannot hold (undefined, a macro, a namespace ...), or data nested more than 200 deep.
Status write_json(TextBuilder& out, const Value& value, const JsonStyle& style);

// Text is viewed, not copied: `json` must outlive the heap's values. Error: nested more than 200 deep.
Result<Value> from_json(Heap& heap, const OrderedJson& json);
// For json that does not outlive the call.
Result<Value> copy_json(Heap& heap, const OrderedJson& json);

}  // namespace nereid::chat
