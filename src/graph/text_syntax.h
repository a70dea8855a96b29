// SPDX-License-Identifier: Apache-2.0
// The grammar of the text form, without meaning: statements with their places. text.h gives graphs from it, and the
// pass matcher reads its pictures with it.
//
//   file      := graph*
//   graph     := 'graph' (WORD | STRING) '{' statement* '}'
//   statement := WORD+ values ('=' (LIST | call))?      input %x: f32[4]   const %c: f32[2] = [1.0, 2.0]
//              | values '=' call graph*                 %q, %k = split(%x) {sizes=[4, 4]}, then the op's regions
//   values    := value (',' value)*        value := NAME (':' type)?
//   type      := WORD+ '[' (dim (',' dim)*)? ']'        dim := NUMBER | WORD | STRING; words: a container, the dtype
//   call      := WORD '(' (arg (',' arg)*)? ')' ('{' (attr (',' attr)*)? '}')?
//   arg       := NAME | '_'                attr := WORD '=' (LIST | STRING | WORD) | '...' WORD
//   NAME      := '%' (WORD | STRING)       a '#' starts a comment that ends with the line
// A WORD is a run of letters, digits and _ . * + - $ (numbers are words). Statements need no separators.
// Memory is bounded by a small multiple of the text's size; graphs lie at most 64 deep in each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::graph {

struct TextPlace {
  int line = 1;
  int column = 1;  // in bytes
  // "line 3, column 12"
  std::string to_string() const;
};

struct DimSyntax {
  std::string text;
  bool quoted = false;  // a symbol, whatever it looks like
};

struct TypeSyntax {
  std::vector<std::string> container;  // words before the dtype
  std::string dtype;
  std::vector<DimSyntax> dims;
  TextPlace place;
};

struct ValueSyntax {
  std::string name;  // unquoted, without '%'; empty: an absent argument
  std::optional<TypeSyntax> type;
  TextPlace place;
};

struct AttrSyntax {
  std::string name;
  std::string text;  // as written; empty for `...name`
  TextPlace place;
};

struct GraphSyntax;

struct StatementSyntax {
  std::vector<std::string> words;   // before the values: {"input"}; empty for a plain node
  std::vector<ValueSyntax> values;  // declared, produced or (for output) named
  std::optional<std::string> literal;
  std::string op;  // empty: no call
  std::vector<ValueSyntax> args;
  std::vector<AttrSyntax> attrs;
  std::vector<GraphSyntax> regions;
  TextPlace place;
  bool starts_with(std::string_view word) const { return !words.empty() && words[0] == word; }
};

struct GraphSyntax {
  std::string name;
  std::vector<StatementSyntax> statements;
  TextPlace place;
};

// kInvalidArgument with the place and what was expected there.
Result<std::vector<GraphSyntax>> parse_syntax(std::string_view text);

// A name as it is written after '%': plain if it is one WORD, else in quotes.
std::string name_to_text(std::string_view name);

}  // namespace nereid::graph
