// SPDX-License-Identifier: Apache-2.0
// Walks the double array with every index checked: the file may say anything.
#include "llm/token/charsmap.h"

#include <cstring>

namespace nereid::token {
namespace {

// A unit: bits 0-7 the label, bit 8 whether a value hangs on the node, bits 10-30 the offset to the children (times 256
// if bit 9 is set); a value's unit has bit 31 set and the value below it.
uint32_t label_of(uint32_t unit) {
  return unit & (0x80000000u | 0xFFu);
}
bool has_value(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
uint32_t value_of(uint32_t unit) {
  return unit & 0x7FFFFFFFu;
}
uint32_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200u) >> 6);
}

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view bytes) {
  Charsmap map;
  if (bytes.empty()) return map;
  uint32_t trie_bytes = 0;
  if (bytes.size() < sizeof trie_bytes) {
    return invalid_argument("the normalisation rules have {} bytes, too few for their header", bytes.size());
  }
  std::memcpy(&trie_bytes, bytes.data(), sizeof trie_bytes);
  bytes.remove_prefix(sizeof trie_bytes);
  if (trie_bytes > bytes.size() || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes == 0) {
    return invalid_argument("the normalisation rules claim a trie of {} bytes, but {} bytes follow", trie_bytes,
                            bytes.size());
  }
  map.units_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(map.units_.data(), bytes.data(), trie_bytes);
  map.replacements_ = bytes.substr(trie_bytes);
  map.replacements_.push_back('\0');
  return map;
}

std::optional<Charsmap::Match> Charsmap::prefix(std::string_view text, bool shortest) const {
  std::optional<Match> found;
  if (units_.empty()) return found;
  size_t node = offset_of(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size()) break;
    const uint32_t unit = units_[node];
    if (label_of(unit) != byte) break;
    node ^= offset_of(unit);
    if (!has_value(unit)) continue;
    if (node >= units_.size()) break;
    const size_t at = value_of(units_[node]);
    if (at >= replacements_.size()) break;
    found = Match{i + 1, std::string_view(replacements_.c_str() + at)};
    if (shortest) break;
  }
  return found;
}

}  // namespace nereid::token
