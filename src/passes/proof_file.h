// SPDX-License-Identifier: Apache-2.0
// The proof files x.pass: cases of a pass as text, before, after and what it says about it.
//
//   == three linears of one input become one      a case's name; comments (#) may stand above
//   -- size tokens 2                              what a symbol is in the numeric check; 3 where nothing is said
//   -- bind positions 0 1                         the numbers of an integer input; zeros where nothing is said
//   graph main { ... }                            before
//   -- after
//   graph main { ... }
//   -- explain
//   + linear %q: ...                              what fired (+) and what was refused (-), as `nereid explain` tells it
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::passes {

struct ProofCase {
  std::string name;
  std::string comment;  // the lines above, with their '#'
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::vector<double>> bindings;
  std::string before, after, explain;
};

inline Result<std::vector<ProofCase>> parse_proofs(const std::string& text) {
  std::vector<ProofCase> cases;
  std::string comment;
  std::string* section = nullptr;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string mark, word, name;
    words >> mark >> word;
    if (mark == "==") {
      cases.push_back({.name = line.substr(3),
                       .comment = std::move(comment),
                       .sizes = {},
                       .bindings = {},
                       .before = {},
                       .after = {},
                       .explain = {}});
      comment.clear();
      section = &cases.back().before;
    } else if (section == nullptr || (mark.starts_with('#') && line[0] == '#')) {
      if (!line.empty()) comment += line + "\n";
    } else if (mark == "--" && word == "after") {
      section = &cases.back().after;
    } else if (mark == "--" && word == "explain") {
      section = &cases.back().explain;
    } else if (mark == "--" && word == "size") {
      int64_t size = 0;
      if (!(words >> name >> size)) return invalid_argument("line {}: expected `-- size SYMBOL NUMBER`", number);
      cases.back().sizes[name] = size;
    } else if (mark == "--" && word == "bind") {
      if (!(words >> name)) return invalid_argument("line {}: expected `-- bind NAME NUMBERS`", number);
      for (double v = 0; words >> v;) cases.back().bindings[name].push_back(v);
    } else if (mark == "--") {
      return invalid_argument("line {}: there is no section '{}'", number, word);
    } else if (!line.empty()) {
      *section += line + "\n";
    }
  }
  return cases;
}

inline std::string print_proofs(const std::vector<ProofCase>& cases) {
  std::string out;
  for (const ProofCase& c : cases) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}== {}\n", c.comment, c.name);
    for (const auto& [symbol, size] : c.sizes) out += fmt::format("-- size {} {}\n", symbol, size);
    for (const auto& [input, numbers] : c.bindings)
      out += fmt::format("-- bind {} {}\n", input, fmt::join(numbers, " "));
    out += fmt::format("{}-- after\n{}-- explain\n{}", c.before, c.after, c.explain);
  }
  return out;
}

}  // namespace nereid::passes
