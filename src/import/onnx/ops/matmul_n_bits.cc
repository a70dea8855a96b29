// SPDX-License-Identifier: Apache-2.0
// com.microsoft MatMulNBits: a product with weights whose blocks of a row share a scale and a zero point.
#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/packed_codes.h"

namespace nereid::import::onnx {
namespace {

enum : size_t { kA, kB, kBlockScales, kBlockZeros, kGroups, kAddend };

struct Blocks {
  int64_t n = 0, k = 0, block = 0, bits = 0;
  int64_t count() const { return (k + block - 1) / block; }
};

Result<Blocks> read_blocks(const NodeContext& node) {
  Blocks b;
  NEREID_TRY(b.n, node.integer("N"));
  NEREID_TRY(b.k, node.integer("K"));
  NEREID_TRY(b.block, node.integer("block_size"));
  NEREID_TRY(b.bits, node.integer("bits", 4));
  NEREID_TRY(const int64_t prepacked, node.integer("weight_prepacked", 0));
  if (prepacked != 0) return unsupported("weights that were packed for a GPU (weight_prepacked {})", prepacked);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (b.n < 1 || b.k < 1 || b.n > kMost || b.k > kMost || b.block < 16 || b.block > kMost)
    return invalid_argument("N is {}, K {} and block_size {}; they should be at least 1, 1 and 16", b.n, b.k, b.block);
  return b;
}

// A tensor of one number a block, whatever way its shape is written.
Result<ValueId> a_block(NodeContext& node, ValueId x, const Blocks& b) {
  return node.emit("reshape_to", {x, node.constant_integers({b.n, b.count()})});
}

// The weights as real numbers, [N, K].
Result<ValueId> weights(NodeContext& node, const Blocks& b) {
  const int64_t blocks = b.count();
  NEREID_TRY(ops::Tensor codes, unpack_codes(node, node.input(kB), b.bits, {b.n, blocks, b.block}, "B"));
  codes.sizes = {b.n, blocks * b.block};
  const DType code = codes.dtype;
  NEREID_TRY(const ValueId scales, a_block(node, node.input(kBlockScales), b));
  const ops::Attrs by_block = {{"axis", int64_t{1}}, {"block_size", b.block}};
  const ValueId zeros = node.input(kBlockZeros);
  const bool packed_zeros = zeros.valid() && node.type(zeros).dtype == DType::u8;
  ValueId w;
  if (!zeros.valid() || packed_zeros) {
    ops::Tensor points = middle_codes(code, {b.n, blocks});
    if (packed_zeros) {
      NEREID_TRY(points, unpack_codes(node, zeros, b.bits, {b.n, blocks}, "zero_points"));
    }
    NEREID_TRY(w, node.emit("dequantize_linear",
                            {node.constant(std::move(codes)), scales, node.constant(std::move(points))}, by_block));
  } else {  // real numbers among the codes
    NEREID_TRY(const ValueId points, a_block(node, zeros, b));
    NEREID_TRY(const ValueId shift, node.emit("mul", {points, scales}));
    NEREID_TRY(const ValueId shifts, node.emit("unsqueeze", {shift, node.constant_integers({2})}));
    NEREID_TRY(w, node.emit("dequantize_linear", {node.constant(std::move(codes)), scales}, by_block));
    NEREID_TRY(w, node.emit("reshape_to", {w, node.constant_integers({b.n, blocks, b.block})}));
    NEREID_TRY(w, node.emit("sub", {w, shifts}));
    NEREID_TRY(w, node.emit("reshape_to", {w, node.constant_integers({b.n, blocks * b.block})}));
  }
  if (blocks * b.block == b.k) return w;
  return node.emit("slice",
                   {w, node.constant_integers({0}), node.constant_integers({b.k}), node.constant_integers({1})});
}

}  // namespace

Status import_matmul_n_bits(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, 6));
  if (node.has_input(kGroups)) return unsupported("blocks that are chosen by g_idx");
  NEREID_TRY(const Blocks b, read_blocks(node));
  NEREID_TRY(const ValueId w, weights(node, b));
  NEREID_TRY(const ValueId columns, node.emit("transpose", {w}, {{"permutation", std::vector<int64_t>{1, 0}}}));
  if (!node.has_input(kAddend)) return node.lower("matmul", {node.input(kA), columns});
  NEREID_TRY(const ValueId y, node.emit("matmul", {node.input(kA), columns}));
  return node.lower("add", {y, node.input(kAddend)});
}

}  // namespace nereid::import::onnx
