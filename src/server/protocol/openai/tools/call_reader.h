// SPDX-License-Identifier: Apache-2.0
// What the parsers share: reading one call into events, and holding back what may be the beginning of a mark.
#pragma once

#include <string>
#include <string_view>

#include "server/protocol/openai/tools/json_call.h"
#include "server/protocol/openai/tools/tool_format.h"

namespace nereid::server::openai {

bool is_tool(const ToolNames& names, std::string_view name);
inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
// Bytes at the end of `text` that could be the beginning of `mark`.
size_t held_for(std::string_view text, std::string_view mark);
void add_content(std::string_view text, ToolEvents* out);
// Takes spaces, and the mark that ends a call, if it comes, from the front of `pending`. False: that is not certain
// yet.
bool skip_end(std::string* pending, std::string_view mark);
void skip_spaces(std::string* pending);

// Content up to a mark. Spaces around calls belong to neither.
class ContentReader {
 public:
  explicit ContentReader(std::string mark) : mark_(std::move(mark)) {}
  // Takes from the front of `pending` what is certain. True: the mark was met, and is taken.
  bool read(std::string* pending, ToolEvents* out);
  void finish(std::string* pending, ToolEvents* out);
  // The spaces that come now follow a call.
  void after_call() { skips_space_ = true; }
  // Those before the mark, in case it was none.
  const std::string& dropped() const { return dropped_; }

 private:
  std::string mark_;
  bool skips_space_ = false;
  std::string dropped_;
};

// One call as a JSON object.
class CallReader {
 public:
  using State = JsonCall::State;
  explicit CallReader(const ToolNames& names) : names_(names) {}
  // Takes bytes of the call from the front of `pending`. kBroken: this is no call of a tool; what was read is in
  // taken() unless has_begun().
  State read(std::string* pending, ToolEvents* out);
  State state() const { return is_foreign_ ? State::kBroken : call_.state(); }
  bool has_begun() const { return has_begun_; }
  const std::string& taken() const { return taken_; }

 private:
  void tell(ToolEvents* out);

  const ToolNames& names_;
  JsonCall call_;
  bool has_begun_ = false;
  bool is_foreign_ = false;
  std::string taken_;
};

// Arguments that stand by themselves, a JSON object, after a name that is known.
class ArgumentsReader {
 public:
  // True: they have ended.
  bool read(std::string* pending, ToolEvents* out);

 private:
  bool has_begun_ = false;
  JsonExtent extent_;
};

}  // namespace nereid::server::openai
