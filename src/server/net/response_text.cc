// SPDX-License-Identifier: Apache-2.0
#include "server/net/response_text.h"

#include <fmt/format.h>

#include <ctime>
#include <iterator>

namespace nereid::server::net {
namespace {

struct StatusName {
  int status;
  std::string_view name;
};

// RFC 9110, section 15, and RFC 6585.
constexpr StatusName kNames[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

void append_clean(std::string* out, std::string_view text) {
  const size_t begin = out->size();
  out->append(text);
  for (size_t i = begin; i < out->size(); ++i)
    if (const char c = (*out)[i]; c == '\r' || c == '\n' || c == '\0') (*out)[i] = ' ';
}

}  // namespace

std::string_view reason_phrase(int status) {
  for (const StatusName& one : kNames)
    if (one.status == status) return one.name;
  return "Unknown";
}

void append_header(std::string* out, std::string_view name, std::string_view value) {
  append_clean(out, name);
  *out += ": ";
  append_clean(out, value);
  *out += "\r\n";
}

void append_head(std::string* out, int status, const Headers& headers) {
  fmt::format_to(std::back_inserter(*out), "HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  for (const auto& [name, value] : headers) append_header(out, name, value);
}

void append_chunk(std::string* out, std::string_view bytes) {
  if (bytes.empty()) return;
  fmt::format_to(std::back_inserter(*out), "{:x}\r\n", bytes.size());
  out->append(bytes);
  *out += "\r\n";
}

std::string http_date(int64_t unix_s) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm t{};
  ::gmtime_r(&seconds, &t);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[t.tm_wday], t.tm_mday, kMonths[t.tm_mon],
                     t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

}  // namespace nereid::server::net
