// SPDX-License-Identifier: Apache-2.0
// com.microsoft GatherBlockQuantized: rows of a quantised table, as real numbers. Only what is taken is dequantised.
#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/packed_codes.h"

namespace nereid::import::onnx {
namespace {

enum : size_t { kData, kIndices, kScales, kZeros };

Result<int64_t> axis_of(const NodeContext& node, std::string_view name, int64_t fallback, int64_t rank) {
  NEREID_TRY(const int64_t axis, node.integer(name, fallback));
  if (axis < -rank || axis >= rank) return invalid_argument("{} is {}; data has {} dimensions", name, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

Status import_gather_block_quantized(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 4));
  ValueId data = node.input(kData), zeros = node.input(kZeros);
  // Copies: what is emitted moves the types of values.
  const ops::TensorType type = node.type(data), scale_type = node.type(node.input(kScales));
  const Shape indices = node.type(node.input(kIndices)).shape;
  if (!type.shape.is_static() || !scale_type.shape.is_static() || !indices.is_ranked())
    return unsupported("the sizes of data and scales, or how many dimensions indices have, are not known");
  const int64_t rank = type.shape.rank();
  NEREID_TRY(const int64_t gather, axis_of(node, "gather_axis", 0, rank));
  NEREID_TRY(const int64_t quantize, axis_of(node, "quantize_axis", 1, rank));
  NEREID_TRY(int64_t block, node.integer("block_size", 128));
  NEREID_TRY(const int64_t bits, node.integer("bits", 4));
  std::vector<int64_t> sizes = type.shape.sizes(), scale_sizes = scale_type.shape.sizes();
  if (type.dtype == DType::u8) {
    sizes.back() *= 8 / bits;
    NEREID_TRY(ops::Tensor codes, unpack_codes(node, data, bits, sizes, "data"));
    ops::Tensor points = middle_codes(codes.dtype, scale_sizes);
    if (zeros.valid()) {
      NEREID_TRY(points, unpack_codes(node, zeros, bits, scale_sizes, "zero_points"));
    }
    data = node.constant(std::move(codes));
    zeros = node.constant(std::move(points));
  }
  if (block == 0) block = sizes[static_cast<size_t>(quantize)];
  // With the codes their scales are taken; along the quantised axis itself there is no scale for each, so all become
  // numbers first.
  if (gather == quantize) {
    NEREID_TRY(const ValueId table, node.emit("dequantize_linear", {data, node.input(kScales), zeros},
                                              {{"axis", quantize}, {"block_size", block}}));
    return node.lower("gather", {table, node.input(kIndices)}, {{"axis", gather}});
  }
  const ops::Attrs along = {{"axis", gather}};
  NEREID_TRY(const ValueId codes, node.emit("gather", {data, node.input(kIndices)}, along));
  NEREID_TRY(const ValueId scales, node.emit("gather", {node.input(kScales), node.input(kIndices)}, along));
  if (zeros.valid()) {
    NEREID_TRY(zeros, node.emit("gather", {zeros, node.input(kIndices)}, along));
  }
  const int64_t axis = quantize < gather ? quantize : quantize - 1 + indices.rank();
  return node.lower("dequantize_linear", {codes, scales, zeros}, {{"axis", axis}, {"block_size", block}});
}

}  // namespace nereid::import::onnx
