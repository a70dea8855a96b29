// SPDX-License-Identifier: Apache-2.0
// Channels-last transposed convolution: every input pixel times all taps (one product), then each output pixel sums the
// taps that fall on it.
#include "ops/window.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

class ConvTransposeStep final : public NetStep {
 public:
  explicit ConvTransposeStep(const kernels::IsaKernels& kernels) : kernels_(kernels) { kernel = "conv_transpose.gemm"; }

  void run(Worker& worker) override {
    kernels::GemmParams p = product;
    p.c = reinterpret_cast<float*>(memory);
    kernels_.gemm(p, worker);
    worker.barrier();
    const auto [begin, end] = worker.slice(batch * h.in);
    for (int64_t row = begin; row < end; ++row) sum_row(row / h.in, row % h.in);
    if (act.steps == nullptr) return;
    worker.barrier();
    kernels_.elementwise_program(act, worker);
  }

  // As the convolution has it whose reverse this is: "in" is a size of y, "out" one of x.
  ops::WindowAxis h, w;
  int64_t batch = 1, channels = 1;
  kernels::GemmParams product;
  std::byte* memory = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  kernels::ProgramStep act_step;
  kernels::ProgramInput act_input;
  kernels::ProgramOutput act_output;
  kernels::ProgramParams act;

 private:
  void sum_row(int64_t n, int64_t oh) {
    const auto* taps = reinterpret_cast<const float*>(memory);
    for (int64_t ow = 0; ow < w.in; ++ow) {
      float* to = y + ((n * h.in + oh) * w.in + ow) * channels;
      for (int64_t c = 0; c < channels; ++c) to[c] = bias != nullptr ? bias[c] : 0;
      for (int64_t kh = 0; kh < h.kernel; ++kh) {
        const int64_t from_h = oh + h.begin - kh * h.dilation;
        if (from_h < 0 || from_h % h.stride != 0 || from_h / h.stride >= h.out) continue;
        for (int64_t kw = 0; kw < w.kernel; ++kw) {
          const int64_t from_w = ow + w.begin - kw * w.dilation;
          if (from_w < 0 || from_w % w.stride != 0 || from_w / w.stride >= w.out) continue;
          const int64_t pixel = (n * h.out + from_h / h.stride) * w.out + from_w / w.stride;
          const float* from = taps + pixel * product.c_stride + (kh * w.kernel + kw) * channels;
          for (int64_t c = 0; c < channels; ++c) to[c] += from[c];
        }
      }
    }
  }

  const kernels::IsaKernels& kernels_;
};

// The padding of an axis whose sizes are known (ops/conv_transpose.cc has the rule).
void place(ops::Windows& windows, size_t axis, int64_t x_size, int64_t y_size, int64_t extra, bool has_shape) {
  ops::WindowAxis& a = windows.axes[axis];
  a.out = x_size;
  a.in = y_size;
  const bool upper = windows.auto_pad == ops::AutoPad::kSameUpper;
  if (has_shape || upper || windows.auto_pad == ops::AutoPad::kSameLower) {
    const int64_t total = std::max<int64_t>(0, (x_size - 1) * a.stride + extra + a.extent() - y_size);
    a.begin = upper ? total / 2 : total - total / 2;
  } else if (windows.auto_pad == ops::AutoPad::kValid) {
    a.begin = 0;
  }
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_conv_transpose_last(NetBinder& binder, const graph::Node& node) {
  NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  if (w == nullptr) return unsupported("the weights are no constant");
  if (node.attrs.integer("group") != 1) return unsupported("it has {} groups", node.attrs.integer("group"));
  if (node.inputs[3].valid()) return unsupported("it has a residual");
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]), ws = binder.sizes(node.inputs[1]),
                             ys = binder.sizes(node.outputs[0]);
  const size_t spatial = xs.size() - 2;
  if (spatial < 1 || spatial > 2) return unsupported("it has {} spatial dimensions", spatial);
  for (int64_t s : ys)
    if (s == 0) return unsupported("there is nothing to compute");
  const int64_t k = ws[0], out_c = ws[1];
  int64_t taps = 1;
  for (size_t d = 2; d < ws.size(); ++d) taps *= ws[d];
  const int64_t n = taps * out_c, pixels = *binder.type(node.inputs[0]).shape.elements() / k;
  NEREID_TRY(
      const std::byte* packed,
      binder.network().packed(w, "conv_transpose", kernels::gemm_packed_elements(k, n) * 4, [&](std::byte* dst) {
        std::vector<float> b(static_cast<size_t>(k * n));  // [in channel, tap, out channel]
        for (int64_t c = 0; c < k; ++c)
          for (int64_t o = 0; o < out_c; ++o)
            for (int64_t t = 0; t < taps; ++t)
              b[static_cast<size_t>((c * taps + t) * out_c + o)] = w[(c * out_c + o) * taps + t];
        kernels::gemm_pack({.b = b.data(), .b_stride = n, .k = k, .n = n, .packed = reinterpret_cast<float*>(dst)});
      }));
  NEREID_TRY(ops::Windows windows, ops::read_windows(node.attrs, std::span(ws).subspan(2)));
  const std::vector<int64_t>& extra = node.attrs.integers("output_padding");
  for (size_t d = 0; d < spatial; ++d)
    place(windows, d, xs[1 + d], ys[1 + d], extra.size() == spatial ? extra[d] : 0,
          !node.attrs.integers("output_shape").empty());
  auto step = std::make_unique<ConvTransposeStep>(binder.kernels());
  step->h = spatial == 2 ? windows.axes[0] : ops::WindowAxis{.in = 1, .out = 1};
  step->w = windows.axes[spatial - 1];
  step->batch = xs[0];
  step->channels = out_c;
  kernels::GemmParams& p = step->product;
  p.a_stride = k;
  p.b = reinterpret_cast<const float*>(packed);
  p.m = pixels;
  p.n = n;
  p.k = k;
  p.c_stride = n;
  if (kernels::gemm_scratch_bytes(p, binder.workers()) > 0) return unsupported("the product wants scratch of its own");
  binder.point(node.inputs[0], &p.a);
  if (node.inputs[2].valid()) binder.point(node.inputs[2], &step->bias);
  binder.point(node.outputs[0], &step->y);
  binder.want_scratch(pixels * n * 4, &step->memory);
  NEREID_TRY(const kernels::Act act, act_of(node.attrs.text("activation")));
  if (act != kernels::Act::kNone) {
    step->act_step = {.op = kernels::Primitive::kAct,
                      .act = act,
                      .alpha = static_cast<float>(node.attrs.real("alpha")),
                      .beta = static_cast<float>(node.attrs.real("beta"))};
    step->act_input.strides[0] = step->act_output.strides[0] = 1;
    step->act_output.value = 1;
    binder.point(node.outputs[0], &step->act_input.data);
    binder.point(node.outputs[0], &step->act_output.data);
    step->act = {.steps = &step->act_step,
                 .step_count = 1,
                 .inputs = &step->act_input,
                 .input_count = 1,
                 .outputs = &step->act_output,
                 .output_count = 1,
                 .rank = 1};
    step->act.dims[0] = *binder.type(node.outputs[0]).shape.elements();
    binder.want_scratch(kernels::program_scratch_bytes(1, 1, binder.workers()), &step->act.scratch);
  }
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
