// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of 8-bit codes with int8 weights, and quantising by what the numbers span.
#include <numeric>

#include "kernels/cpu/low_precision.h"
#include "ops/quantized_layer.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::LowType;
using namespace ops;  // the names of the inputs

// A kernel with the vectors that its epilogue reads. Where the scale of x is known only in a run, every worker makes
// them for itself before it begins.
template <typename Params>
class QuantizedStep final : public NetStep {
 public:
  using Kernel = void (*)(const Params&, Worker&);
  explicit QuantizedStep(Kernel function) : function_(function) {}

  void run(Worker& worker) override {
    if (x_scale == nullptr) return function_(params, worker);
    const auto columns = static_cast<int64_t>(scale.size());
    Params p = params;
    float* factors = reinterpret_cast<float*>(vectors) + 2 * worker.index() * round_up(columns);
    auto* shifts = reinterpret_cast<int32_t*>(factors + round_up(columns));
    const int32_t zero = x_zero != nullptr ? *x_zero : 0;
    for (int64_t j = 0; j < columns; ++j) factors[j] = scale[static_cast<size_t>(j)] * *x_scale;
    p.epilogue.scale = factors;
    if (!sums.empty()) {
      for (int64_t j = 0; j < columns; ++j) shifts[j] = -zero * sums[static_cast<size_t>(j)];
      p.epilogue.column_offset = shifts;
    }
    if constexpr (requires { p.x_zero; }) p.x_zero = zero;
    function_(p, worker);
  }
  static int64_t round_up(int64_t n) { return (n + 15) / 16 * 16; }

  Params params;
  std::vector<float> scale;        // of every column
  std::vector<int32_t> sums;       // of every column's weights; what is added to a column's sum, if the scale is known
  const float* x_scale = nullptr;  // of dynamic steps
  const uint8_t* x_zero = nullptr;
  std::byte* vectors = nullptr;

 private:
  Kernel function_;
};

// The sum of the weights of each column: [columns, k] or, if not transposed, [k, columns].
void column_sums(const int8_t* w, int64_t columns, int64_t k, bool transposed, int32_t* sums) {
  std::fill(sums, sums + columns, 0);
  if (transposed) {
    for (int64_t j = 0; j < columns; ++j) sums[j] = std::accumulate(w + j * k, w + (j + 1) * k, int32_t{0});
    return;
  }
  for (int64_t i = 0; i < k; ++i, w += columns)
    for (int64_t j = 0; j < columns; ++j) sums[j] += w[j];
}

template <typename T>
T number(const NetBinder& binder, graph::ValueId id, T absent) {
  const void* data = binder.known(id);
  if (data == nullptr) return absent;
  return static_cast<T>(load<double>({data, binder.dtype(id), binder.sizes(id)})[0]);
}

// Of all scales and zero points but those of x.
Status expect_known(const NetBinder& binder, const graph::Node& node) {
  for (size_t i : {kQWScale, kQResidualScale, kQResidualZero, kQSumScale, kQSumZero, kQYScale, kQYZero, kQMap})
    if (node.inputs[i].valid() && binder.known(node.inputs[i]) == nullptr)
      return unsupported("{} is not known before a run", kQuantizedLayerInputs[i].name);
  return Status::ok();
}

// Everything but the weights: `packed_sums` [columns] are the sums of their columns, null for depthwise ones.
template <typename Params>
Status bind_epilogue(NetBinder& binder, const graph::Node& node, QuantizedStep<Params>& step, LowType x_type,
                     int64_t columns, const int32_t* packed_sums) {
  kernels::LowEpilogue& e = step.params.epilogue;
  const auto& in = node.inputs;
  NEREID_TRY(e.act, act_of(node.attrs.text("activation")));
  e.alpha = static_cast<float>(node.attrs.real("alpha"));
  e.beta = static_cast<float>(node.attrs.real("beta"));
  e.act_scale = static_cast<float>(node.attrs.real("scale"));
  e.act_shift = static_cast<float>(node.attrs.real("shift"));
  e.residual_last = node.attrs.boolean("residual_last");
  if (in[kQBias].valid()) binder.point(in[kQBias], &e.bias);
  if (in[kQResidual].valid()) {
    if (binder.type(in[kQResidual]).shape != binder.type(node.outputs[0]).shape)
      return unsupported("the residual is broadcast");
    NEREID_TRY(e.residual_type, low_type_of(binder, in[kQResidual]));
    binder.point(in[kQResidual], &e.residual);
    e.residual_stride = columns;
    e.residual_scale = number(binder, in[kQResidualScale], 1.0f);
    e.residual_zero = number(binder, in[kQResidualZero], 0);
  }
  if (in[kQSumScale].valid()) {
    const bool is_signed = binder.dtype(in[kQSumZero]) == DType::i8;
    e.sum_scale = number(binder, in[kQSumScale], 1.0f);
    e.sum_inverse_scale = 1 / e.sum_scale;
    e.sum_zero = number(binder, in[kQSumZero], 0);
    e.sum_low = is_signed ? -128 : 0;
    e.sum_high = is_signed ? 127 : 255;
  }
  NEREID_TRY(e.y_type, low_type_of(binder, node.outputs[0]));
  e.y_inverse_scale = 1 / number(binder, in[kQYScale], 1.0f);
  e.y_zero = number(binder, in[kQYZero], 0);
  if (in[kQMap].valid()) {
    binder.point(in[kQMap], &e.map);
    e.map_codes = kernels::map_codes_of(binder.kernels().isa);
  }

  const Elements<float> w_scale = load<float>({binder.known(in[kQWScale]), DType::f32, binder.sizes(in[kQWScale])});
  for (int64_t j = 0; j < columns; ++j) step.scale.push_back(w_scale[w_scale.size() == 1 ? 0 : j]);
  if (packed_sums != nullptr) step.sums.assign(packed_sums, packed_sums + columns);
  const bool known =
      binder.known(in[kQXScale]) != nullptr && (!in[kQXZero].valid() || binder.known(in[kQXZero]) != nullptr);
  if (!known) {
    if (x_type != LowType::kU8) return unsupported("codes of type i8 have no known scale before a run");
    binder.point(in[kQXScale], &step.x_scale);
    if (in[kQXZero].valid()) binder.point(in[kQXZero], &step.x_zero);
    binder.want_scratch(2 * binder.workers() * QuantizedStep<Params>::round_up(columns) * 4, &step.vectors);
    return Status::ok();
  }
  const auto x_scale = number(binder, in[kQXScale], 1.0f);
  const int32_t x_zero = number(binder, in[kQXZero], 0), shift = x_zero + (x_type == LowType::kS8 ? 128 : 0);
  for (float& s : step.scale) s *= x_scale;
  for (int32_t& s : step.sums) s *= -shift;
  e.scale = step.scale.data();
  if (shift != 0 && packed_sums != nullptr) e.column_offset = step.sums.data();
  if constexpr (requires { step.params.x_zero; }) step.params.x_zero = x_zero;
  return Status::ok();
}

Result<const int32_t*> packed_sums(NetBinder& binder, const int8_t* w, int64_t columns, int64_t k, bool transposed) {
  NEREID_TRY(const std::byte* sums,
             binder.network().packed(w, transposed ? "sums^T" : "sums", columns * 4, [&](std::byte* dst) {
               column_sums(w, columns, k, transposed, reinterpret_cast<int32_t*>(dst));
             }));
  return reinterpret_cast<const int32_t*>(sums);
}

}  // namespace

Result<LowType> low_type_of(const NetBinder& binder, graph::ValueId id) {
  switch (binder.dtype(id)) {
    case DType::f32:
      return LowType::kF32;
    case DType::bf16:
      return LowType::kBF16;
    case DType::u8:
      return LowType::kU8;
    case DType::i8:
      return LowType::kS8;
    default:
      return unsupported("an operand is {}", dtype_name(binder.dtype(id)));
  }
}

Result<std::unique_ptr<NetStep>> bind_net_dense_q(NetBinder& binder, const graph::Node& node) {
  const auto* w = static_cast<const int8_t*>(binder.constant(node.inputs[kQW]));
  if (w == nullptr) return unsupported("the matrix is no constant");
  NEREID_RETURN_IF_ERROR(expect_known(binder, node));
  const std::vector<int64_t> ws = binder.sizes(node.inputs[kQW]);
  const bool transposed = node.attrs.boolean("transposed");
  const int64_t k = ws[transposed ? 1 : 0], n = ws[transposed ? 0 : 1];
  const int64_t elements = *binder.type(node.inputs[kQX]).shape.elements();
  if (k == 0 || n == 0 || elements == 0) return unsupported("there is nothing to multiply");
  auto step = std::make_unique<QuantizedStep<kernels::LowGemmParams>>(binder.kernels().low_gemm);
  kernels::LowGemmParams& p = step->params;
  NEREID_TRY(p.a_type, low_type_of(binder, node.inputs[kQX]));
  p.a_stride = k;
  NEREID_TRY(p.b, binder.network().packed(
                      w, transposed ? "gemm.int8^T" : "gemm.int8", kernels::low_packed_bytes(p.a_type, k, n),
                      [&](std::byte* dst) { kernels::low_pack_int8(w, ws[1], transposed, k, n, dst); }));
  NEREID_TRY(const int32_t* sums, packed_sums(binder, w, n, k, transposed));
  p.m = elements / k;
  p.n = n;
  p.k = k;
  p.c_stride = n;
  binder.point(node.inputs[kQX], &p.a);
  binder.point(node.outputs[0], &p.c);
  NEREID_RETURN_IF_ERROR(bind_epilogue(binder, node, *step, p.a_type, n, sums));
  if (const int64_t bytes = kernels::low_gemm_scratch_bytes(p, binder.workers()); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = "gemm.int8";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_conv_last_q(NetBinder& binder, const graph::Node& node) {
  const auto* w = static_cast<const int8_t*>(binder.constant(node.inputs[kQW]));
  if (w == nullptr) return unsupported("the weights are no constant");
  NEREID_RETURN_IF_ERROR(expect_known(binder, node));
  NEREID_TRY(const kernels::ConvShape shape, conv_shape_of(binder, node));
  auto step = std::make_unique<QuantizedStep<kernels::LowConvParams>>(binder.kernels().low_conv);
  kernels::LowConvParams& p = step->params;
  p.shape = shape;
  NEREID_TRY(p.x_type, low_type_of(binder, node.inputs[kQX]));
  p.x_stride = shape.in_c;
  p.y_stride = shape.out_c;
  const std::string layout =
      fmt::format("conv.int8 {}x{}x{}x{}/{}", shape.out_c, shape.in_c, shape.kernel_h, shape.kernel_w, shape.groups);
  NEREID_TRY(p.weight, binder.network().packed(w, layout, kernels::low_conv_weight_bytes(shape, p.x_type),
                                               [&](std::byte* dst) { kernels::low_pack_conv_int8(shape, w, dst); }));
  const int32_t* sums = nullptr;
  if (!kernels::low_conv_is_depthwise(shape)) {
    const int64_t k = shape.in_c / shape.groups * shape.kernel_h * shape.kernel_w;
    NEREID_TRY(sums, packed_sums(binder, w, shape.out_c, k, true));
  }
  binder.point(node.inputs[kQX], &p.x);
  binder.point(node.outputs[0], &p.y);
  NEREID_RETURN_IF_ERROR(bind_epilogue(binder, node, *step, p.x_type, shape.out_c, sums));
  if (const int64_t bytes = kernels::low_conv_scratch_bytes(shape, p.x_type, binder.workers()); bytes > 0)
    binder.want_scratch(bytes, &p.scratch);
  step->kernel = kernels::low_conv_is_depthwise(shape) ? "conv.int8.depthwise" : "conv.int8";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_dynamic_quantize(NetBinder& binder, const graph::Node& node) {
  NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  auto step = std::make_unique<ParamStep<kernels::DynamicQuantizeParams>>(binder.kernels().dynamic_quantize);
  kernels::DynamicQuantizeParams& p = step->params;
  p.n = *binder.type(node.inputs[0]).shape.elements();
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  binder.point(node.outputs[1], &p.scale);
  binder.point(node.outputs[2], &p.zero);
  binder.want_scratch(int64_t{128} * binder.workers(), &p.scratch);
  step->kernel = "quantize.dynamic";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
