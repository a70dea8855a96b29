// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/request_fields.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace nereid::server::net::http2 {
namespace {

// 8.2.1: a token's characters, none of them in upper case.
constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";

bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || kOthers.find(c) != kOthers.npos;
  });
}

bool is_value(std::string_view value) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  if (!value.empty() && (is_blank(value.front()) || is_blank(value.back()))) return false;
  constexpr std::string_view kBad("\0\r\n", 3);
  return value.find_first_of(kBad) == value.npos;
}

// 8.2.2: what is about one connection has no place here.
bool is_of_connection(const HeaderField& field) {
  for (const std::string_view name : {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"})
    if (field.name == name) return true;
  return field.name == "te" && field.value != "trailers";
}

bool is_regular(const HeaderField& field) {
  return is_name(field.name) && is_value(field.value) && !is_of_connection(field);
}

}  // namespace

bool read_request_fields(HeaderFields&& fields, RequestHead* head, int64_t* content_length) {
  const std::pair<std::string_view, std::string*> pseudo[] = {
      {":method", &head->method}, {":scheme", &head->scheme}, {":authority", &head->authority}, {":path", &head->path}};
  unsigned seen = 0;
  size_t regular = 0;
  for (; regular < fields.size() && fields[regular].name.starts_with(':'); ++regular) {
    HeaderField& field = fields[regular];
    if (!is_value(field.value)) return false;
    unsigned bit = 1;
    const auto* one = std::begin(pseudo);
    for (; one != std::end(pseudo) && one->first != field.name; ++one) bit <<= 1;
    if (one == std::end(pseudo) || (seen & bit) != 0) return false;
    seen |= bit;
    *one->second = std::move(field.value);
  }
  if (head->method.empty() || head->scheme.empty() || head->path.empty()) return false;
  fields.erase(fields.begin(), fields.begin() + static_cast<ptrdiff_t>(regular));
  *content_length = -1;
  for (const HeaderField& field : fields) {
    if (!is_regular(field)) return false;
    if (field.name != "content-length") continue;
    int64_t length = -1;
    const char* const end = field.value.data() + field.value.size();
    const auto [stop, error] = std::from_chars(field.value.data(), end, length);
    if (error != std::errc() || stop != end || length < 0) return false;
    if (*content_length >= 0 && *content_length != length) return false;
    *content_length = length;
  }
  head->headers = std::move(fields);
  return true;
}

bool are_trailers(const HeaderFields& fields) {
  return std::ranges::all_of(fields, is_regular);
}

}  // namespace nereid::server::net::http2
