// SPDX-License-Identifier: Apache-2.0
// A table as text, aligned for the eye and valid Markdown: | model | size |.
#pragma once

#include <string>
#include <vector>

namespace nereid {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string name;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);
  // Missing cells are empty; more cells than columns are a defect (checked). Line breaks become blanks, '|' is escaped.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Header, rule (with Markdown's alignment marks) and rows, each line ended.
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace nereid
