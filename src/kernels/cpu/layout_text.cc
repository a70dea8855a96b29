// SPDX-License-Identifier: Apache-2.0
// Packed layouts as text, for engine files: "tile16 code4 group=32 offset=1 zero=0 rows=576 cols=576".
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "kernels/cpu/packed_weight.h"

namespace nereid::kernels {
namespace {

constexpr std::array<std::string_view, 6> kCodesNames = {"code4", "code7", "code8", "f16", "bf16", "f32"};

// The number behind the first "key=", or nothing.
std::optional<int64_t> number_after(std::string_view text, std::string_view key) {
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

// Takes what it can find and accepts it if it says again what was read: no second spelling of a layout exists.
Result<PackedLayout> PackedLayout::from_text(std::string_view text) {
  const auto field = [text](std::string_view key) { return number_after(text, key).value_or(-1); };
  PackedLayout l{.has_offset = field(" offset=") == 1, .rows = field(" rows="), .cols = field(" cols=")};
  for (size_t i = 0; i < kCodesNames.size(); ++i)
    if (text.starts_with(fmt::format("tile16 {} ", kCodesNames[i]))) l.codes = static_cast<Codes>(i);
  l.group = static_cast<uint8_t>(field(" group="));
  l.zero = static_cast<uint8_t>(field(" zero="));
  if ((l.group != 16 && l.group != 32) || !check_packed_size(l.rows, l.cols).is_ok() || l.to_text() != text)
    return invalid_argument("expected a packed layout such as 'tile16 code4 group=32 ...', found '{}'", text);
  return l;
}

}  // namespace nereid::kernels
