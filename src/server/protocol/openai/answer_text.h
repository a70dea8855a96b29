// SPDX-License-Identifier: Apache-2.0
// From what a model gives to what a client reads: whole bodies, or server-sent events. Pure: no threads, no sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "server/core/text_model.h"

namespace nereid::server::openai {

struct AnswerHead {
  std::string id;  // "chatcmpl-..."
  int64_t created_s = 0;
  std::string model;
  std::string fingerprint;
};

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  // of the prompt, found in the cache
  int64_t answer_tokens = 0;
  int64_t thought_tokens = -1;  // of the answer; -1: the model has no marks for thoughts
};

struct StreamOptions {
  bool is_stream = false;
  bool include_usage = false;
  bool continuous_usage = false;
};

// Used by one thread at a time.
class AnswerText {
 public:
  virtual ~AnswerText() = default;
  // What a choice of the request's prompt number `prompt` says next; choices count within their prompt. Events that are
  // ready are appended to `stream` when the answer is streamed. Outputs that failed do not come here.
  virtual void add(size_t prompt, TextOutput&& output, std::string* stream) = 0;
  // All choices have ended: the last events, or the whole body.
  virtual void end(const Usage& usage, std::string* out) = 0;
};

// "stop", "length".
std::string_view finish_word(TextFinish finish);
// {"prompt_tokens":...}
void append_usage(std::string* out, const Usage& usage);
constexpr std::string_view kStreamEnd = "data: [DONE]\n\n";
// data: {"error":{...}}: what a stream that breaks off says last.
std::string error_event(std::string_view error_body);

// `prefix` and letters and digits, from as many random numbers as it takes.
std::string random_id(std::string_view prefix, size_t letters, const std::function<uint64_t()>& random);

}  // namespace nereid::server::openai
