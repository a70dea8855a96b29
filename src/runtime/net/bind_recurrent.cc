// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU with their usual activations: one product over all steps for the inputs, then a product and a small
// elementwise program a step. Shapes as in ops/recurrent.h, steps before samples.
#include <cstring>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::Act;
using kernels::GemmParams;
using kernels::Primitive;
using kernels::ProgramInput;
using kernels::ProgramOutput;
using kernels::ProgramStep;

constexpr ProgramStep sigmoid_of(uint8_t a) {
  return {.op = Primitive::kAct, .a = a, .act = Act::kSigmoid};
}
constexpr ProgramStep tanh_of(uint8_t a) {
  return {.op = Primitive::kAct, .a = a, .act = Act::kTanh};
}

// Values 0-3: sums of the gates i, o, f, c; 4: the cell. Results 9 (cell) and 12 (h).
constexpr ProgramStep kLstm[] = {sigmoid_of(0),
                                 sigmoid_of(2),
                                 tanh_of(3),
                                 {.op = Primitive::kMul, .a = 6, .b = 4},
                                 {.op = Primitive::kMulAdd, .a = 5, .b = 7, .c = 8},
                                 tanh_of(9),
                                 sigmoid_of(1),
                                 {.op = Primitive::kMul, .a = 11, .b = 10}};
// Values 0-2: of x for z, r, h; 3-5: of the past for them; 6: the past. Result 14: n + z (past - n).
constexpr ProgramStep kGru[] = {{.op = Primitive::kAdd, .a = 0, .b = 3},
                                sigmoid_of(7),
                                {.op = Primitive::kAdd, .a = 1, .b = 4},
                                sigmoid_of(9),
                                {.op = Primitive::kMulAdd, .a = 10, .b = 5, .c = 2},
                                tanh_of(11),
                                {.op = Primitive::kSub, .a = 6, .b = 12},
                                {.op = Primitive::kMulAdd, .a = 8, .b = 13, .c = 12}};

class RecurrentStep final : public NetStep {
 public:
  explicit RecurrentStep(const kernels::IsaKernels& kernels) : kernels_(kernels) {}

  void run(Worker& worker) override {
    for (int64_t d = 0; d < directions; ++d) run_direction(d, worker);
  }

  bool is_lstm = false, first_reversed = false;
  int64_t directions = 1, steps = 0, samples = 0, inputs = 0, hidden = 0, gates = 0;
  struct Direction {
    const float* w = nullptr;  // packed
    const float* r = nullptr;
  };
  std::vector<Direction> weights;
  const float *x = nullptr, *bias = nullptr, *initial_h = nullptr, *initial_c = nullptr;
  float *y = nullptr, *y_h = nullptr, *y_c = nullptr;
  std::byte *of_x = nullptr, *of_past = nullptr, *cell = nullptr, *zeros = nullptr, *program_scratch = nullptr;

 private:
  void run_direction(int64_t d, Worker& worker) {
    const int64_t width = gates * hidden, state = samples * hidden;
    auto* sums_x = reinterpret_cast<float*>(of_x);
    auto* sums_past = reinterpret_cast<float*>(of_past);
    auto* c = reinterpret_cast<float*>(cell);
    auto* none = reinterpret_cast<float*>(zeros);
    const float* wb = bias != nullptr ? bias + d * 2 * width : nullptr;
    const float* rb = bias != nullptr ? wb + width : nullptr;
    if (worker.index() == 0) {
      std::memset(none, 0, static_cast<size_t>(state) * 4);
      std::memcpy(c, initial_c != nullptr ? initial_c + d * state : none, static_cast<size_t>(state) * 4);
    }
    GemmParams p{.a = x,
                 .a_stride = inputs,
                 .b = weights[static_cast<size_t>(d)].w,
                 .m = steps * samples,
                 .n = width,
                 .k = inputs,
                 .c = sums_x,
                 .c_stride = width};
    p.epilogue.bias = wb;
    kernels_.gemm(p, worker);
    worker.barrier();
    const bool backwards = d == 1 || first_reversed;
    const float* past = initial_h != nullptr ? initial_h + d * state : none;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = backwards ? steps - 1 - i : i;
      const float* now_x = sums_x + t * samples * width;
      GemmParams q{.a = past,
                   .a_stride = hidden,
                   .b = weights[static_cast<size_t>(d)].r,
                   .m = samples,
                   .n = width,
                   .k = hidden,
                   .c = sums_past,
                   .c_stride = width};
      q.epilogue.bias = rb;
      if (is_lstm) {
        q.epilogue.residual = now_x;
        q.epilogue.residual_stride = width;
      }
      kernels_.gemm(q, worker);
      worker.barrier();
      float* next = y + (t * directions + d) * state;
      run_program(now_x, sums_past, past, c, next, worker);
      worker.barrier();
      past = next;
    }
    if (worker.index() != 0) return;
    std::memcpy(y_h + d * state, past, static_cast<size_t>(state) * 4);
    if (y_c != nullptr) std::memcpy(y_c + d * state, c, static_cast<size_t>(state) * 4);
  }

  void run_program(const float* of_x_now, const float* sums, const float* past, float* c, float* next, Worker& worker) {
    const int64_t width = gates * hidden;
    ProgramInput in[7];
    ProgramOutput out[2];
    const auto gate = [&](const float* from, int64_t g) {
      return ProgramInput{.data = from + g * hidden, .strides = {width, 1}};
    };
    kernels::ProgramParams p;
    if (is_lstm) {
      for (int64_t g = 0; g < 4; ++g) in[g] = gate(sums, g);
      in[4] = {.data = c, .strides = {hidden, 1}};
      out[0] = {.data = c, .strides = {hidden, 1}, .value = 9};
      out[1] = {.data = next, .strides = {hidden, 1}, .value = 12};
      p = {.steps = kLstm,
           .step_count = std::size(kLstm),
           .inputs = in,
           .input_count = 5,
           .outputs = out,
           .output_count = 2};
    } else {
      for (int64_t g = 0; g < 3; ++g) {
        in[g] = gate(of_x_now, g);
        in[3 + g] = gate(sums, g);
      }
      in[6] = {.data = past, .strides = {hidden, 1}};
      out[0] = {.data = next, .strides = {hidden, 1}, .value = 14};
      p = {.steps = kGru,
           .step_count = std::size(kGru),
           .inputs = in,
           .input_count = 7,
           .outputs = out,
           .output_count = 1};
    }
    p.rank = 2;
    p.dims[0] = samples;
    p.dims[1] = hidden;
    p.scratch = program_scratch;
    kernels_.elementwise_program(p, worker);
  }

  const kernels::IsaKernels& kernels_;
};

bool usual(const std::vector<std::string>& given, std::span<const std::string_view> expected) {
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string_view wanted = expected[i % expected.size()];
    if (given[i].size() != wanted.size()) return false;
    for (size_t c = 0; c < wanted.size(); ++c)
      if (std::tolower(static_cast<unsigned char>(given[i][c])) != wanted[c]) return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_recurrent(NetBinder& binder, const graph::Node& node) {
  static constexpr std::string_view kLstmActs[] = {"sigmoid", "tanh", "tanh"}, kGruActs[] = {"sigmoid", "tanh"};
  const bool is_lstm = node.op->name == "lstm";
  const auto given = [&](size_t i) { return i < node.inputs.size() && node.inputs[i].valid(); };
  const ops::Attrs& a = node.attrs;
  if (binder.dtype(node.inputs[0]) != DType::f32) return unsupported("x is not f32");
  if (given(4)) return unsupported("samples have lengths of their own");
  if (given(7)) return unsupported("it has peepholes");
  if (a.real("clip") != 0 || a.integer("layout") != 0) return unsupported("it clips, or has samples before steps");
  if (!usual(a.texts("activations"), is_lstm ? std::span(kLstmActs) : std::span<const std::string_view>(kGruActs)))
    return unsupported("its activations are not the usual ones");
  if (is_lstm ? a.boolean("input_forget") : !a.boolean("linear_before_reset"))
    return unsupported("its gates are wired in an unusual way");
  const auto* w = static_cast<const float*>(binder.constant(node.inputs[1]));
  const auto* r = static_cast<const float*>(binder.constant(node.inputs[2]));
  if (w == nullptr || r == nullptr) return unsupported("the weights are no constants");
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]), ws = binder.sizes(node.inputs[1]);
  auto step = std::make_unique<RecurrentStep>(binder.kernels());
  RecurrentStep& s = *step;
  s.is_lstm = is_lstm;
  s.first_reversed = a.text("direction") == "reverse";
  s.gates = is_lstm ? 4 : 3;
  s.directions = ws[0];
  s.hidden = ws[1] / s.gates;
  s.inputs = ws[2];
  s.steps = xs[0];
  s.samples = xs[1];
  if (s.steps * s.samples * s.inputs * s.hidden == 0) return unsupported("there is nothing to compute");
  const int64_t width = s.gates * s.hidden;
  const auto pack = [&](const float* from, int64_t k, int64_t d) -> Result<const float*> {
    const float* matrix = from + d * width * k;
    NEREID_TRY(
        const std::byte* packed,
        binder.network().packed(matrix, "gemm^T", kernels::gemm_packed_elements(k, width) * 4, [&](std::byte* dst) {
          kernels::gemm_pack({.b = matrix,
                              .b_stride = k,
                              .transposed = true,
                              .k = k,
                              .n = width,
                              .packed = reinterpret_cast<float*>(dst)});
        }));
    return reinterpret_cast<const float*>(packed);
  };
  for (int64_t d = 0; d < s.directions; ++d) {
    s.weights.emplace_back();
    NEREID_TRY(s.weights.back().w, pack(w, s.inputs, d));
    NEREID_TRY(s.weights.back().r, pack(r, s.hidden, d));
  }
  binder.point(node.inputs[0], &s.x);
  if (given(3)) binder.point(node.inputs[3], &s.bias);
  if (given(5)) binder.point(node.inputs[5], &s.initial_h);
  if (is_lstm && given(6)) binder.point(node.inputs[6], &s.initial_c);
  binder.point(node.outputs[0], &s.y);
  binder.point(node.outputs[1], &s.y_h);
  if (is_lstm) binder.point(node.outputs[2], &s.y_c);
  const int64_t state = s.samples * s.hidden * 4;
  binder.want_scratch(s.steps * s.samples * width * 4, &s.of_x);
  binder.want_scratch(s.samples * width * 4, &s.of_past);
  binder.want_scratch(state, &s.cell);
  binder.want_scratch(state, &s.zeros);
  binder.want_scratch(kernels::program_scratch_bytes(7, 8, binder.workers()), &s.program_scratch);
  step->kernel = is_lstm ? "lstm" : "gru";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
