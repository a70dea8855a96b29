// SPDX-License-Identifier: Apache-2.0
// fuse_one_hot: dense(cast(x == 0 .. n - 1)), as TensorFlow and JAX write an embedding, takes the row x of a table
// act(w + bias). What is outside 0 .. n - 1 has no one in its row: a last row act(bias) stands for it.
#include "ops/epilogue.h"
#include "passes/edit.h"
#include "passes/layer_inputs.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr int64_t kMostElements = int64_t{1} << 24;  // of the table

struct OneHot {
  ValueId x;          // [..., 1]
  int64_t count = 0;  // n
};

// x of cast(x == 0 .. n - 1); nothing if the value is made otherwise.
std::optional<OneHot> read_one_hot(const Edit& edit, ValueId hot) {
  const Node* cast = edit.made_by(hot, "cast");
  if (cast == nullptr || !edit.is_ranked(hot)) return std::nullopt;
  const Node* equal = edit.made_by(cast->inputs[0], "equal");
  if (equal == nullptr) return std::nullopt;
  const Shape& shape = edit.type(hot).shape;
  for (size_t i : {0, 1}) {
    const ValueId x = equal->inputs[i], c = equal->inputs[1 - i];
    if (!edit.is_ranked(x) || edit.rank(x) != shape.rank() || edit.is_constant(x)) continue;
    const DType dtype = edit.type(x).dtype;
    if (dtype != DType::i32 && dtype != DType::i64) continue;
    const Dim& last = edit.type(x).shape[shape.rank() - 1];
    const auto values = along_axis(edit, c, shape, shape.rank() - 1);
    if (!last.is_static() || last.size() != 1 || !values) continue;
    bool counts = true;
    for (size_t k = 0; k < values->size(); ++k) counts = counts && (*values)[k] == static_cast<double>(k);
    if (counts) return OneHot{x, static_cast<int64_t>(values->size())};
  }
  return std::nullopt;
}

// act(w + bias), and act(bias) as the last row.
Result<std::vector<double>> table_of(const Edit& edit, const Node& dense, int64_t count, int64_t columns) {
  const auto w = edit.numbers(dense.inputs[kW], kMostElements);
  const auto bias = edit.numbers(dense.inputs[kBias]);
  if (!w || (dense.inputs[kBias].valid() && !bias)) return unsupported("its matrix is not known or large");
  std::vector<double> table(static_cast<size_t>((count + 1) * columns), 0);
  ops::Elements<double> row(columns);
  for (int64_t r = 0; r <= count; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = dense.attrs.boolean("transposed") ? c * count + r : r * columns + c;
      row[c] = (r < count ? (*w)[static_cast<size_t>(at)] : 0) + (bias ? (*bias)[static_cast<size_t>(c)] : 0);
    }
    NEREID_RETURN_IF_ERROR(ops::apply_epilogue(dense.attrs, {}, {}, row, columns));
    for (int64_t c = 0; c < columns; ++c) table[static_cast<size_t>(r * columns + c)] = row[c];
  }
  return table;
}

Result<ValueId> as_lookup(Edit& edit, NodeId id, const OneHot& hot) {
  const Node dense = edit.graph().node(id);
  const ops::TensorType type = edit.type(dense.outputs[0]);
  const Dim& last = type.shape[type.shape.rank() - 1];
  const int64_t columns = last.is_static() ? last.size() : -1;
  if (columns < 1 || type.dtype != DType::f32) return unsupported("the result is {}", type.to_string());
  if (dense.inputs[kResidual].valid()) return unsupported("a sum is built into it");
  NEREID_TRY(const std::vector<double> table, table_of(edit, dense, hot.count, columns));
  const ops::TensorType indices = edit.type(hot.x);
  std::vector<Dim> outer;
  for (int d = 0; d + 1 < indices.shape.rank(); ++d) outer.push_back(indices.shape[d]);
  const auto shape = reshape_shape(indices.shape, Shape(outer));
  if (!shape) return unsupported("the sizes of %{} cannot be said", edit.value(hot.x).name);
  const std::string name = edit.value(dense.outputs[0]).name;
  const ValueId below = edit.constant(name + ".below", indices.dtype, {}, {-1});
  const ValueId above = edit.constant(name + ".above", indices.dtype, {}, {static_cast<double>(hot.count)});
  // Both ends are the last row: -1 counts from behind.
  NEREID_TRY(const ValueId flat, edit.insert(id, "reshape", {hot.x}, {{"shape", *shape}}, name + ".flat"));
  NEREID_TRY(const ValueId row, edit.insert(id, "clip", {flat, below, above}, {}, name + ".row"));
  const ValueId rows = edit.constant(name + ".table", DType::f32, {hot.count + 1, columns}, table);
  return edit.insert(id, "gather", {rows, row}, {{"axis", int64_t{0}}});
}

}  // namespace

Status fuse_one_hot(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).op->name != "dense") continue;
    const auto hot = read_one_hot(edit, g.node(id).inputs[kX]);
    if (!hot) continue;
    std::string where = edit.where(id);
    const auto now = as_lookup(edit, id, *hot);
    const Status done = now.is_ok() ? edit.replace(g.node(id).outputs[0], *now) : now.status();
    edit.record(std::move(where), done, fmt::format("a table of {} rows", hot->count + 1));
  }
  return Status::ok();
}

}  // namespace nereid::passes
