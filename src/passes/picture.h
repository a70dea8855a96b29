// SPDX-License-Identifier: Apache-2.0
// Pictures: the two texts of a rewrite, in the text form of graphs with wildcards (graph/text_syntax.h).
//
// A pattern:
//   graph pattern {
//     input %x                                any value; all uses of %x are the same value
//     const %w: $f[n, _]                      a constant; $f, n: one dtype and size wherever they stand; _: anything
//     optional %b                             may be absent (`optional const` too)
//     shared %h = rms_norm(%x, %w) {eps=$e}   a result that may have users outside the pattern and is kept for them
//     %y = linear(%h, %w, %b, _) {...rest}    _: must be absent; $e: takes the attribute's value, equal wherever it
//     stands output %y                               what the replacement gives anew; other results must have no user
//     outside
//   }
// Attributes that a pattern's node does not list must have their default unless `...name` takes them all.
// Inputs of ops that may be exchanged (OpDef::commutative) match in either order.
//
// A replacement uses the pattern's values and names, gives each output once, and may make constants:
//   graph replacement {
//     const %both = join_rows(%w1, %w2)       rows of all; absent if all are absent
//     %y2 = linear(%x, %both)
//     %y, %z = split(%y2) {sizes=[$w1.rows, $w2.rows]}
//     output %y, %z
//   }
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/text_syntax.h"
#include "ops/op.h"

namespace nereid::passes {

struct PictureValue {
  enum class Kind : uint8_t { kInput, kConstant, kResult };
  std::string name;
  Kind kind = Kind::kInput;
  bool optional = false;
  bool shared = false;
  bool output = false;
  std::optional<graph::TypeSyntax> type;
};

struct PictureAttr {
  std::string name;
  std::string capture;   // without '$'; empty: a literal, or (in replacements) a text with captures in it
  std::string text;      // as written
  ops::AttrValue value;  // the literal of a pattern
};

inline constexpr int kAbsent = -1;

struct PictureNode {
  const ops::OpDef* op = nullptr;
  std::vector<int> args;     // indices of values, or kAbsent
  std::vector<int> results;  // indices of values
  std::vector<PictureAttr> attrs;
  std::string rest;  // name after `...`; empty: none
};

// const %name = join_rows(...): a constant that a replacement makes.
struct PictureJoin {
  int result = 0;
  std::vector<int> parts;
};

struct Picture {
  std::vector<PictureValue> values;
  std::vector<PictureNode> nodes;
  std::vector<PictureJoin> joins;
  std::vector<int> outputs;
  int find(std::string_view name) const;  // kAbsent if there is none
};

struct Rewrite {
  Picture pattern;
  Picture replacement;  // its first values are the pattern's, with the same indices
};

// Errors say which of the two and where in it.
Result<Rewrite> parse_rewrite(std::string_view pattern, std::string_view replacement);

}  // namespace nereid::passes
