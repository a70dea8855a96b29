// SPDX-License-Identifier: Apache-2.0
// Packed layouts as text, for engine files: "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=576".
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "kernels/cpu/packed_weight.h"

namespace nereid::kernels {
namespace {

constexpr std::array<std::string_view, 6> kCodesNames = {"code4", "code7", "code8", "f16", "bf16", "f32"};

// The number after "key=", or nothing.
std::optional<int64_t> field(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t v = 0;
  const char* begin = text.data() + at + key.size();
  const auto [end, e] = std::from_chars(begin, text.data() + text.size(), v);
  if (e != std::errc() || end == begin) return std::nullopt;
  return v;
}

}  // namespace

std::string PackedLayout::to_text() const {
  return fmt::format("tile16 {} group={} offset={} zero={} rows={} cols={}", kCodesNames[static_cast<size_t>(codes)],
                     group, has_offset ? 1 : 0, zero, rows, cols);
}

Result<PackedLayout> PackedLayout::from_text(std::string_view text) {
  PackedLayout l;
  bool known = false;
  for (size_t i = 0; i < kCodesNames.size(); ++i)
    if (text.starts_with(fmt::format("tile16 {} ", kCodesNames[i]))) {
      l.codes = static_cast<Codes>(i);
      known = true;
    }
  const auto group = field(text, "group="), offset = field(text, "offset="), zero = field(text, "zero=");
  const auto rows = field(text, "rows="), cols = field(text, "cols=");
  constexpr int64_t kMax = int64_t{1} << 31;
  if (!known || !group || (*group != 16 && *group != 32) || !offset || !zero || *zero < 0 || *zero > 255 || !rows ||
      *rows < 1 || *rows > kMax || !cols || *cols < 1 || *cols > kMax)
    return invalid_argument("expected a packed layout such as 'tile16 code4 group=32 ...', found '{}'", text);
  l.group = static_cast<uint8_t>(*group);
  l.has_offset = *offset != 0;
  l.zero = static_cast<uint8_t>(*zero);
  l.rows = *rows;
  l.cols = *cols;
  return l;
}

}  // namespace nereid::kernels
