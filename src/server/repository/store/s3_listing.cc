// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/s3_listing.h"

#include <charconv>

namespace nereid::server {
namespace {

// What stands between <tag> and </tag>, from `*at` on, which moves behind it. Nothing: there is no more. Tags of these
// documents have neither attributes nor others of their own name in them.
bool next_element(std::string_view xml, std::string_view tag, size_t* at, std::string_view* inside) {
  const std::string open = "<" + std::string(tag) + ">", close = "</" + std::string(tag) + ">";
  const size_t begin = xml.find(open, *at);
  if (begin == xml.npos) return false;
  const size_t end = xml.find(close, begin + open.size());
  if (end == xml.npos) return false;
  *inside = xml.substr(begin + open.size(), end - begin - open.size());
  *at = end + close.size();
  return true;
}

std::string_view element(std::string_view xml, std::string_view tag) {
  size_t at = 0;
  std::string_view inside;
  next_element(xml, tag, &at, &inside);
  return inside;
}

void append_utf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | ((code >> 18) & 0x07));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

std::string plain(std::string_view xml) {
  struct Entity {
    std::string_view name, text;
  };
  constexpr Entity kEntities[] = {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}};
  std::string out;
  for (size_t at = 0; at < xml.size(); ++at) {
    const size_t end = xml[at] == '&' ? xml.find(';', at) : xml.npos;
    if (end == xml.npos || end - at > 12) {
      out += xml[at];
      continue;
    }
    std::string_view name = xml.substr(at + 1, end - at - 1);
    if (name.starts_with('#')) {
      name.remove_prefix(1);
      const bool is_hex = name.starts_with('x') || name.starts_with('X');
      if (is_hex) name.remove_prefix(1);
      uint32_t code = 0;
      std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
      append_utf8(code, &out);
    }
    for (const Entity& one : kEntities)
      if (one.name == name) out += one.text;
    at = end;
  }
  return out;
}

}  // namespace

Result<S3Listing> read_s3_listing(std::string_view xml) {
  if (xml.find("<ListBucketResult") == xml.npos)
    return invalid_argument("the store's answer is no listing: {}", xml.substr(0, 200));
  S3Listing out;
  size_t at = 0;
  std::string_view inside;
  while (next_element(xml, "Contents", &at, &inside)) {
    S3Object one{.key = plain(element(inside, "Key")), .etag = plain(element(inside, "ETag")), .size = 0};
    const std::string_view size = element(inside, "Size");
    std::from_chars(size.data(), size.data() + size.size(), one.size);
    if (!one.key.empty()) out.objects.push_back(std::move(one));
  }
  at = 0;
  while (next_element(xml, "CommonPrefixes", &at, &inside)) out.folders.push_back(plain(element(inside, "Prefix")));
  if (element(xml, "IsTruncated") == "true") {
    out.next = plain(element(xml, "NextContinuationToken"));
    if (out.next.empty()) return invalid_argument("the store's listing goes on, but does not say where");
  }
  return out;
}

std::string s3_error_text(std::string_view xml) {
  const std::string code = plain(element(xml, "Code")), message = plain(element(xml, "Message"));
  if (code.empty()) return message;
  return message.empty() ? code : code + ": " + message;
}

}  // namespace nereid::server
