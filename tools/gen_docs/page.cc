// SPDX-License-Identifier: Apache-2.0
// The little Markdown that every page needs.
#include "gen_docs/page.h"

#include <fmt/format.h>

namespace nereid::docs {

std::string row(std::initializer_list<std::string_view> cells) {
  std::string line = "|";
  for (std::string_view cell : cells) {
    line += cell.empty() ? "" : " ";
    for (char c : cell) {
      if (c == '|')
        line += "\\|";
      else
        line += c == '\n' ? ' ' : c;
    }
    line += " |";
  }
  return line + "\n";
}

std::string header(std::initializer_list<std::string_view> cells) {
  std::string rule = "|";
  for (size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return row(cells) + rule + "\n";
}

std::string code(std::string_view text) {
  if (text.empty()) return "";
  // A text with backquotes of its own needs a longer fence.
  const std::string_view fence = text.find('`') == std::string_view::npos ? "`" : "``";
  return fmt::format("{0}{1}{0}", fence, text);
}

}  // namespace nereid::docs
