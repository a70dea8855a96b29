// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/hpack_table.h"

#include <array>

namespace nereid::server::net::http2 {
namespace {

// RFC 7541, appendix A.
constexpr std::array<HeaderView, kStaticHeaders> kStatic = {{
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
}};

constexpr size_t kEntryBytes = 32;  // that each counts beside its texts

}  // namespace

HeaderView static_header(size_t index) {
  return kStatic[index - 1];
}

void DynamicTable::add(std::string_view name, std::string_view value) {
  const size_t bytes = name.size() + value.size() + kEntryBytes;
  if (bytes > most_bytes_) {
    entries_.clear();
    bytes_ = 0;
    return;
  }
  Entry entry{std::string(name), std::string(value)};  // before others go: the name may be of one of them
  shrink(most_bytes_ - bytes);
  bytes_ += bytes;
  entries_.push_front(std::move(entry));
}

void DynamicTable::set_most_bytes(size_t bytes) {
  most_bytes_ = bytes;
  shrink(bytes);
}

void DynamicTable::shrink(size_t bytes) {
  while (bytes_ > bytes) {
    bytes_ -= entries_.back().name.size() + entries_.back().value.size() + kEntryBytes;
    entries_.pop_back();
  }
}

std::optional<HeaderView> DynamicTable::at(size_t index) const {
  if (index == 0) return std::nullopt;
  if (index <= kStaticHeaders) return static_header(index);
  index -= kStaticHeaders + 1;
  if (index >= entries_.size()) return std::nullopt;
  return HeaderView{entries_[index].name, entries_[index].value};
}

}  // namespace nereid::server::net::http2
