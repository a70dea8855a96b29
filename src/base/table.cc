// SPDX-License-Identifier: Apache-2.0
#include "base/table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace nereid {
namespace {

// Characters, taking each code point of UTF-8 as one column.
size_t display_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& c : columns_) c.name = escaped(c.name);
}

void Table::add_row(std::vector<std::string> cells) {
  NEREID_CHECK(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = escaped(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::markdown() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = std::max<size_t>(3, display_width(columns_[c].name));
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  std::string out;
  const auto put = [&](size_t c, const std::string& cell) {
    const std::string gap(widths[c] - display_width(cell), ' ');
    const bool right = columns_[c].align == Align::right;
    out += "| " + (right ? gap + cell : cell + gap) + ' ';
  };
  for (size_t c = 0; c < columns_.size(); ++c) put(c, columns_[c].name);
  out += "|\n";
  for (size_t c = 0; c < columns_.size(); ++c) {
    const bool right = columns_[c].align == Align::right;
    out += "| " + std::string(widths[c] - (right ? 1 : 0), '-') + (right ? ": " : " ");
  }
  out += "|\n";
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) put(c, row[c]);
    out += "|\n";
  }
  return out;
}

}  // namespace nereid
