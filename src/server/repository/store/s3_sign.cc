// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/s3_sign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/checksum.h"

namespace nereid::server {
namespace {

std::string sha256_text(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::string bytes_of_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

// HMAC-SHA256 (RFC 2104), as hexadecimal digits.
std::string hmac_hex(std::string_view key, std::string_view text) {
  constexpr size_t kBlock = 64;
  std::string block(key.size() > kBlock ? bytes_of_hex(sha256_text(key)) : std::string(key));
  block.resize(kBlock, '\0');
  std::string inner = block, outer = block;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return sha256_text(outer + bytes_of_hex(sha256_text(inner + std::string(text))));
}

std::string hmac(std::string_view key, std::string_view text) {
  return bytes_of_hex(hmac_hex(key, text));
}

}  // namespace

std::string s3_encode(std::string_view text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '_' || c == '.' || c == '~' || (keep_slash && c == '/');
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string s3_query(const S3Request& request) {
  std::vector<std::pair<std::string, std::string>> encoded;
  for (const auto& [name, value] : request.query) encoded.emplace_back(s3_encode(name, false), s3_encode(value, false));
  std::sort(encoded.begin(), encoded.end());
  std::string out;
  for (const auto& [name, value] : encoded) out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, value);
  return out;
}

std::vector<std::string> s3_sign(const S3Request& request, const S3Credentials& credentials, std::string_view time) {
  if (credentials.key.empty()) return {};
  const std::string nothing = sha256_text("");  // the hash of the body
  std::vector<std::pair<std::string, std::string>> headers = {
      {"host", request.host}, {"x-amz-content-sha256", nothing}, {"x-amz-date", std::string(time)}};
  if (!credentials.token.empty()) headers.emplace_back("x-amz-security-token", credentials.token);
  std::string lines, names;
  for (const auto& [name, value] : headers) {
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical =
      fmt::format("GET\n{}\n{}\n{}\n{}\n{}", s3_encode(request.path, true), s3_query(request), lines, names, nothing);
  const std::string_view day = time.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", day, credentials.region);
  const std::string to_sign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256_text(canonical));
  const std::string key =
      hmac(hmac(hmac(hmac("AWS4" + credentials.secret, day), credentials.region), "s3"), "aws4_request");
  std::vector<std::string> out;
  for (const auto& [name, value] : headers)
    if (name != "host") out.push_back(name + ": " + value);
  out.push_back(fmt::format("Authorization: AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                            credentials.key, scope, names, hmac_hex(key, to_sign)));
  return out;
}

}  // namespace nereid::server
