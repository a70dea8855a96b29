// SPDX-License-Identifier: Apache-2.0
// docs/reference/ops.md: every operator with its arguments, attributes and tolerances.
#include <fmt/format.h>

#include "gen_docs/page.h"
#include "ops/op.h"

namespace nereid::docs {
namespace {

std::string_view kind_name(ops::AttrSpec::Kind kind) {
  using Kind = ops::AttrSpec::Kind;
  switch (kind) {
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "integer";
    case Kind::kFloat:
      return "number";
    case Kind::kString:
      return "text";
    case Kind::kInts:
      return "integers";
    case Kind::kFloats:
      return "numbers";
    case Kind::kStrings:
      return "texts";
  }
  return "";
}

std::string arguments(std::span<const ops::ArgSpec> specs) {
  std::string list;
  for (const ops::ArgSpec& spec : specs) {
    if (!list.empty()) list += ", ";
    list += code(spec.name);
    if (spec.optional) list += " (optional)";
    if (spec.variadic) list += " (any number)";
    if (spec.state) list += " (changed in place)";
  }
  return list;
}

}  // namespace

std::string ops_page() {
  std::string page =
      "# Operators\n\nThe vocabulary of the intermediate representation. Tolerances are what a kernel must keep "
      "against the\n"
      "reference evaluator, as a share of the result's largest magnitude.\n";
  for (const ops::OpDef* op : ops::op_table()) {
    page += fmt::format("\n## {}\n\n{}\n\n", op->name, code(op->summary));
    page += fmt::format("- takes {}\n- gives {}\n", arguments(op->inputs), arguments(op->outputs));
    page += fmt::format("- tolerance f32 {:g}, bf16 {:g}, int8 {:g}{}\n", op->tolerance_f32, op->tolerance_bf16,
                        op->tolerance_int8, op->commutative ? "; the two inputs may be exchanged" : "");
    if (op->attrs.empty()) continue;
    page += '\n';
    page += header({"attribute", "type", "default", "meaning"});
    for (const ops::AttrSpec& attr : op->attrs)
      page += row(
          {code(attr.name), kind_name(attr.kind), attr.fallback.empty() ? "required" : code(attr.fallback), attr.help});
  }
  return page;
}

}  // namespace nereid::docs
