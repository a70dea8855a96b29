// SPDX-License-Identifier: Apache-2.0
// Graphs as text and back: the form of goldens, pass pictures and engine files.
//
//   graph main {
//     input %tokens: i32[tokens]
//     const %table: q8_0[49152, 576]
//     %x: f32[tokens, 576] = embedding(%tokens, %table)
//     %q: f32[tokens, 384], %k: f32[tokens, 192] = split(%x) {sizes=[384, 192]}
//     output %q, %k
//   }
// Printing what was parsed from a printed text gives that text back byte for byte. Constants carry no data but small
// ones of type f32, i8, u8, i32 or i64, whose numbers are written out; the data of the others is bound by name
// elsewhere. Node results may be written without types when read; with a type it must be the inferred one. The grammar
// is in text_syntax.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/text_syntax.h"

namespace nereid::graph {

struct PrintOptions {
  int64_t inline_elements = 8;  // constants of at most so many elements print their numbers
  bool all_attributes = false;  // also those that have their default; engine files want them, readers do not
};

std::string print(const Graph& graph, const PrintOptions& options = {});

// "linear(%x, %w) {norm_eps=1e-06}": a node's right-hand side, for messages.
std::string print_call(const Graph& graph, NodeId node, const PrintOptions& options = {});
// "f32[tokens, 576]", symbols that are no words in quotes.
std::string print_type(const ops::TensorType& type);

// Every constant that a node or output of the graph reads, those of regions too, by a path that is unique in the whole:
// its name, in regions after "RESULT/INDEX/" of the node around it (its first result, which of its regions).
using ConstantVisitor = std::function<void(const std::string& path, const Value& constant)>;
void visit_constants(const Graph& graph, const ConstantVisitor& visit);
// Whether its numbers are in the text.
bool is_inline(const Value& constant, const PrintOptions& options);

// Gives the data of constants whose numbers are not in the text, by path and type; null: it has none. What it points to
// must live as long as the graph, and be as long as the type says.
using ConstantSource = std::function<Result<const void*>(const std::string& path, const ops::TensorType& type)>;

// Exactly one graph. Errors start with "line L, column C: ". What it returns is verified (verify.h).
Result<Graph> parse(std::string_view text, const ConstantSource& constants = {});
Result<Graph> build_graph(const GraphSyntax& syntax, const ConstantSource& constants = {});
Result<ops::TensorType> build_type(const TypeSyntax& syntax);

}  // namespace nereid::graph
