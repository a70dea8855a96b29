// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/hpack_decoder.h"

#include <cstdint>
#include <utility>

#include "server/net/http2/huffman.h"

namespace nereid::server::net::http2 {
namespace {

constexpr size_t kEntryBytes = 32;

// What is left of a block. Each step: false where it is broken.
class Reader {
 public:
  explicit Reader(std::string_view block) : rest_(block) {}
  bool is_at_end() const { return rest_.empty(); }
  uint8_t peek() const { return static_cast<uint8_t>(rest_.front()); }

  // Section 5.1, with a prefix of so many bits.
  bool number(int prefix_bits, size_t* out) {
    if (rest_.empty()) return false;
    const size_t most = (size_t{1} << prefix_bits) - 1;
    *out = peek() & most;
    rest_.remove_prefix(1);
    if (*out < most) return true;
    for (int shift = 0; shift < 28; shift += 7) {
      if (rest_.empty()) return false;
      const size_t byte = peek();
      rest_.remove_prefix(1);
      *out += (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;  // beyond what any header or index is
  }

  // Section 5.2. `kept` holds it where it is not in the block as it is.
  bool text(std::string* kept, std::string_view* out) {
    if (rest_.empty()) return false;
    const bool is_packed = (peek() & 0x80) != 0;
    size_t length = 0;
    if (!number(7, &length) || length > rest_.size()) return false;
    const std::string_view bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (!is_packed) return *out = bytes, true;
    kept->clear();
    if (!huffman_decode(bytes, kept)) return false;
    *out = *kept;
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace

HpackDecoder::Outcome HpackDecoder::decode(std::string_view block, size_t most_bytes, HeaderFields* fields) {
  Reader in(block);
  size_t bytes = 0;
  bool has_field = false;
  std::string kept_name, kept_value;
  while (!in.is_at_end()) {
    const uint8_t first = in.peek();
    size_t index = 0;
    HeaderView header;
    if ((first & 0x80) != 0) {  // 6.1: both from a table
      if (!in.number(7, &index)) return Outcome::kBroken;
      const std::optional<HeaderView> found = table_.at(index);
      if (!found) return Outcome::kBroken;
      header = *found;
    } else if ((first & 0xe0) == 0x20) {  // 6.3: the table's size, before any header
      size_t size = 0;
      if (has_field || !in.number(5, &size) || size > kFirstTableBytes) return Outcome::kBroken;
      table_.set_most_bytes(size);
      continue;
    } else {  // 6.2: 01 joins the table, 0000 and 0001 do not
      const bool joins = (first & 0x40) != 0;
      if (!in.number(joins ? 6 : 4, &index)) return Outcome::kBroken;
      if (index > 0) {
        const std::optional<HeaderView> found = table_.at(index);
        if (!found) return Outcome::kBroken;
        header.name = found->name;
      } else if (!in.text(&kept_name, &header.name)) {
        return Outcome::kBroken;
      }
      if (!in.text(&kept_value, &header.value)) return Outcome::kBroken;
      if (joins) {
        const std::string name(header.name);  // the table's own may go
        table_.add(name, header.value);
        kept_name = name;
        header.name = kept_name;
      }
    }
    has_field = true;
    bytes += header.name.size() + header.value.size() + kEntryBytes;
    if (bytes <= most_bytes) fields->push_back({std::string(header.name), std::string(header.value)});
  }
  return bytes <= most_bytes ? Outcome::kDone : Outcome::kTooLong;
}

}  // namespace nereid::server::net::http2
