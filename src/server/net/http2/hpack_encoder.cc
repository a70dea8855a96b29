// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/hpack_encoder.h"

#include <algorithm>
#include <cstdint>

namespace nereid::server::net::http2 {
namespace {

constexpr size_t kEntryBytes = 32;

// Section 5.1.
void append_number(std::string* out, uint8_t first, int prefix_bits, size_t value) {
  const size_t most = (size_t{1} << prefix_bits) - 1;
  if (value < most) return out->push_back(static_cast<char>(first | value));
  out->push_back(static_cast<char>(first | most));
  for (value -= most; value >= 0x80; value >>= 7) out->push_back(static_cast<char>((value & 0x7f) | 0x80));
  out->push_back(static_cast<char>(value));
}

void append_text(std::string* out, std::string_view text) {
  append_number(out, 0, 7, text.size());
  out->append(text);
}

// The entry with both texts, or else one with the name; 0: there is none.
size_t static_index(const HeaderField& field, bool* has_value) {
  size_t named = 0;
  for (size_t i = 1; i <= kStaticHeaders; ++i) {
    const HeaderView one = static_header(i);
    if (one.name != field.name) continue;
    if (one.value == field.value) return *has_value = true, i;
    if (named == 0) named = i;
  }
  return *has_value = false, named;
}

}  // namespace

void HpackEncoder::set_table_bytes(size_t bytes) {
  const size_t now = std::min(bytes, kFirstTableBytes);
  if (now == most_bytes_) return;
  // Less once is told even if more is allowed again before the next block: entries are gone by then.
  table_.set_most_bytes(0);
  table_.set_most_bytes(now);
  most_bytes_ = now;
  is_resized_ = true;
}

size_t HpackEncoder::common_index(const HeaderField& field) const {
  for (size_t i = 0; i < table_.size(); ++i) {
    const HeaderView one = *table_.at(kStaticHeaders + 1 + i);
    if (one.value == field.value && one.name == field.name) return kStaticHeaders + 1 + i;
  }
  return 0;
}

void HpackEncoder::encode(const HeaderFields& fields, std::string* block) {
  if (is_resized_) {
    append_number(block, 0x20, 5, 0);
    append_number(block, 0x20, 5, most_bytes_);
    is_resized_ = false;
  }
  for (const HeaderField& field : fields) {
    if (field.is_common) {
      if (const size_t index = common_index(field); index > 0) {
        append_number(block, 0x80, 7, index);
        continue;
      }
    }
    bool has_value = false;
    const size_t index = static_index(field, &has_value);
    if (has_value) {
      append_number(block, 0x80, 7, index);
      continue;
    }
    // What is common stays: nothing of it is put out for others.
    const bool joins =
        field.is_common && table_.bytes() + field.name.size() + field.value.size() + kEntryBytes <= most_bytes_;
    append_number(block, joins ? 0x40 : 0x00, joins ? 6 : 4, index);
    if (index == 0) append_text(block, field.name);
    append_text(block, field.value);
    if (joins) table_.add(field.name, field.value);
  }
}

}  // namespace nereid::server::net::http2
