// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "server/net/name_pattern.h"

#include <pcre2.h>

namespace nereid::server::net {

struct NamePattern::Code {
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_match_context_free(limits);
    pcre2_code_free(code);
  }
  pcre2_code* code = nullptr;
  pcre2_match_context* limits = nullptr;
};

Result<NamePattern> NamePattern::make(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE at = 0;
  auto code = std::make_shared<Code>();
  code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                             PCRE2_CASELESS | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr);
  if (code->code == nullptr) {
    PCRE2_UCHAR message[128] = {};
    pcre2_get_error_message(error, message, sizeof message);
    return invalid_argument("'{}' is no regular expression: {} at its byte {}", pattern,
                            reinterpret_cast<const char*>(message), at);
  }
  code->limits = pcre2_match_context_create(nullptr);
  if (code->limits == nullptr) return internal("there is no memory for a regular expression");
  pcre2_set_match_limit(code->limits, 100'000);
  pcre2_set_depth_limit(code->limits, 1000);
  NamePattern out;
  out.code_ = std::move(code);
  return out;
}

bool NamePattern::matches(std::string_view name) const {
  if (code_ == nullptr) return false;
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  if (data == nullptr) return false;
  const int found =
      pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(name.data()), name.size(), 0, 0, data, code_->limits);
  pcre2_match_data_free(data);
  return found >= 0;
}

}  // namespace nereid::server::net
