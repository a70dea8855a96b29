// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic of two tensors with numpy's broadcasting: add, sub, mul, div.
#include <functional>

#include "ops/numeric.h"
#include "ops/op_list.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (rule.type(0).dtype != rule.type(1).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(1));
  if (!rule.is_activation(0) && !rule.is_index(0))
    return invalid_argument("{} should be f32, f64, f16, bf16, i32 or i64", rule.describe(0));
  auto shape = broadcast(rule.shape(0), rule.shape(1));
  if (!shape) return invalid_argument("{} and {} do not broadcast", rule.describe(0), rule.describe(1));
  return std::vector<TensorType>{{rule.type(0).dtype, *shape}};
}

// Flat indices into a and b of each element of the result, in order.
class BroadcastWalk {
 public:
  BroadcastWalk(const std::vector<int64_t>& out, const std::vector<int64_t>& a, const std::vector<int64_t>& b)
      : sizes_(out), index_(out.size(), 0), step_a_(steps(out, a)), step_b_(steps(out, b)) {}
  int64_t a() const { return a_; }
  int64_t b() const { return b_; }
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      a_ += step_a_[d];
      b_ += step_b_[d];
      if (++index_[d] < sizes_[d]) return;
      a_ -= step_a_[d] * sizes_[d];
      b_ -= step_b_[d] * sizes_[d];
      index_[d] = 0;
    }
  }

 private:
  static std::vector<int64_t> steps(const std::vector<int64_t>& out, const std::vector<int64_t>& in) {
    std::vector<int64_t> s(out.size(), 0);
    int64_t stride = 1;
    for (size_t i = 0; i < in.size(); ++i) {
      size_t d = in.size() - 1 - i;
      if (in[d] != 1) s[out.size() - 1 - i] = stride;
      stride *= in[d];
    }
    return s;
  }
  std::vector<int64_t> sizes_, index_, step_a_, step_b_;
  int64_t a_ = 0, b_ = 0;
};

template <typename T, typename F>
Status combine(const EvalContext& ctx, F&& f, const std::vector<T>& a, const std::vector<T>& b, auto&& write) {
  BroadcastWalk walk(ctx.outputs[0].sizes, ctx.inputs[0].sizes, ctx.inputs[1].sizes);
  for (int64_t i = 0; i < ctx.outputs[0].elements(); ++i, walk.next()) {
    NEREID_TRY(T v, f(a[static_cast<size_t>(walk.a())], b[static_cast<size_t>(walk.b())]));
    write(i, v);
  }
  return Status::ok();
}

struct Add {
  static Result<float> real(float a, float b) { return a + b; }
  static Result<int64_t> whole(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
};
struct Sub {
  static Result<float> real(float a, float b) { return a - b; }
  static Result<int64_t> whole(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
};
struct Mul {
  static Result<float> real(float a, float b) { return a * b; }
  static Result<int64_t> whole(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
};
struct Div {
  static Result<float> real(float a, float b) { return a / b; }
  static Result<int64_t> whole(int64_t a, int64_t b) {
    if (b == 0) return invalid_argument("the integer {} is divided by 0", a);
    return b == -1 ? static_cast<int64_t>(0 - uint64_t(a)) : a / b;
  }
};

template <typename F>
Status evaluate(const EvalContext& ctx) {
  const TensorView& dst = ctx.outputs[0];
  if (is_float(dst.dtype)) {
    NEREID_TRY(auto a, read_floats(ctx.inputs[0]));
    NEREID_TRY(auto b, read_floats(ctx.inputs[1]));
    return combine(ctx, F::real, a, b, [&](int64_t i, float v) { write_float(dst, i, v); });
  }
  NEREID_TRY(auto a, read_integers(ctx.inputs[0]));
  NEREID_TRY(auto b, read_integers(ctx.inputs[1]));
  return combine(ctx, F::whole, a, b, [&](int64_t i, int64_t v) { write_integer(dst, i, v); });
}

template <typename F>
constexpr OpDef binary(std::string_view name, std::string_view summary, bool commutative) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = {},
          .infer = infer,
          .evaluate = evaluate<F>,
          .cost = cost_per_element<1>,
          .commutative = commutative};
}

}  // namespace

constexpr OpDef kAdd = binary<Add>("add", "y = a + b, broadcast as numpy does", true);
constexpr OpDef kDiv = binary<Div>("div", "y = a / b, broadcast as numpy does; integers round towards zero", false);
constexpr OpDef kMul = binary<Mul>("mul", "y = a * b, broadcast as numpy does", true);
constexpr OpDef kSub = binary<Sub>("sub", "y = a - b, broadcast as numpy does", false);

}  // namespace nereid::ops
