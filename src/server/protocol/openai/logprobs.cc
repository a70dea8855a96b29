// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/logprobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

void comma(std::string* out) {
  if (!out->empty()) *out += ',';
}

// The head of a log-probability of chats, up to its bytes.
void append_one(std::string* out, const TokenNames& names, int32_t token, float logprob) {
  *out += R"({"token":)";
  append_json_string(out, names.name(token));
  *out += R"(,"logprob":)";
  append_float(out, logprob);
  *out += R"(,"bytes":[)";
  const std::string bytes = names.bytes(token);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) *out += ',';
    append_int(out, static_cast<unsigned char>(bytes[i]));
  }
  *out += ']';
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

bool is_utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  std::string escaped;
  append_json_escaped(&escaped, text);
  // Escapes are ASCII, so a U+FFFD that was not there comes from bytes that are no character.
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const auto count = [&](std::string_view where) {
    size_t n = 0;
    for (size_t at = where.find(kReplacement); at != std::string_view::npos; at = where.find(kReplacement, at + 1)) ++n;
    return n;
  };
  return count(escaped) == count(text);
}

std::string TokenNames::name(int32_t token) const {
  if (as_ids_) return fmt::format("token_id:{}", token);
  std::string text = model_.token_text(token);
  if (is_utf8(text)) return text;
  std::string shown = "bytes:";
  for (const char c : text) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return shown;
}

void append_chat_logprob(std::string* out, const TokenNames& names, const sample::SampleResult& result, int32_t top) {
  append_one(out, names, result.token, result.logprob);
  *out += R"(,"top_logprobs":[)";
  const size_t shown = std::min(result.top.size(), static_cast<size_t>(std::max(top, 0)));
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) *out += ',';
    append_one(out, names, result.top[i].token, result.top[i].logprob);
    *out += '}';
  }
  *out += "]}";
}

void CompletionLogprobs::add_token(const TokenNames& names, int32_t token) {
  for (std::string* list : {&tokens_, &logprobs_, &tops_, &offsets_}) comma(list);
  append_json_string(&tokens_, names.name(token));
  append_int(&offsets_, offset_);
  offset_ += static_cast<int64_t>(count_characters(names.bytes(token)));
}

void CompletionLogprobs::add_first(const TokenNames& names, int32_t token) {
  add_token(names, token);
  logprobs_ += "null";
  tops_ += "null";
}

void CompletionLogprobs::add(const TokenNames& names, const sample::SampleResult& result, int32_t top) {
  add_token(names, result.token);
  append_float(&logprobs_, result.logprob);
  tops_ += '{';
  const size_t shown = std::min(result.top.size(), static_cast<size_t>(std::max(top, 0)));
  bool has_drawn = false;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) tops_ += ',';
    append_json_string(&tops_, names.name(result.top[i].token));
    tops_ += ':';
    append_float(&tops_, result.top[i].logprob);
    has_drawn |= result.top[i].token == result.token;
  }
  if (!has_drawn) {
    if (shown > 0) tops_ += ',';
    append_json_string(&tops_, names.name(result.token));
    tops_ += ':';
    append_float(&tops_, result.logprob);
  }
  tops_ += '}';
}

void CompletionLogprobs::take(std::string* out) {
  fmt::format_to(std::back_inserter(*out), R"({{"tokens":[{}],"token_logprobs":[{}],"top_logprobs":[{}],)", tokens_,
                 logprobs_, tops_);
  fmt::format_to(std::back_inserter(*out), R"("text_offset":[{}]}})", offsets_);
  for (std::string* list : {&tokens_, &logprobs_, &tops_, &offsets_}) list->clear();
}

}  // namespace nereid::server::openai
