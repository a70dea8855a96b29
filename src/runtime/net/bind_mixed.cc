// SPDX-License-Identifier: Apache-2.0
// Elementwise ops beside the f32 programs: comparisons, logic and selection, arithmetic and limits of whole numbers;
// broadcast as numpy does.
#include <functional>
#include <numeric>
#include <type_traits>

#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

constexpr size_t kMostOperands = 4;  // the result is operand 0
constexpr size_t kMostDims = 12;

// n elements; steps in elements. Operands are y, a, b, c.
using RowFunction = void (*)(std::byte* const* at, const int64_t* steps, int64_t n);

struct MixedDim {
  int64_t size = 1;
  int64_t steps[kMostOperands] = {};  // in bytes; 0: broadcast
};

class MixedStep final : public NetStep {
 public:
  MixedStep() { kernel = "mixed"; }
  void run(Worker& worker) override {
    const auto [begin, end] = worker.slice(rows);
    if (begin >= end) return;
    int64_t index[kMostDims] = {};
    std::byte* at[kMostOperands];
    for (size_t o = 0; o < kMostOperands; ++o) at[o] = const_cast<std::byte*>(data[o]);
    int64_t rest = begin;
    for (size_t d = outer.size(); d-- > 0;) {
      index[d] = rest % outer[d].size;
      rest /= outer[d].size;
      for (size_t o = 0; o < kMostOperands; ++o) at[o] += index[d] * outer[d].steps[o];
    }
    for (int64_t row = begin; row < end; ++row) {
      function(at, steps, inner);
      for (size_t d = outer.size(); d-- > 0;) {
        const bool carries = ++index[d] == outer[d].size;
        for (size_t o = 0; o < kMostOperands; ++o)
          at[o] += carries ? outer[d].steps[o] * (1 - outer[d].size) : outer[d].steps[o];
        if (!carries) break;
        index[d] = 0;
      }
    }
  }

  const std::byte* data[kMostOperands] = {};  // those that are not there stay null and are not read
  std::vector<MixedDim> outer;
  int64_t rows = 1, inner = 1;
  int64_t steps[kMostOperands] = {};
  RowFunction function = nullptr;
};

template <typename T, typename Y, typename F>
void binary_row(std::byte* const* at, const int64_t* steps, int64_t n) {
  auto* y = reinterpret_cast<Y*>(at[0]);
  const auto *a = reinterpret_cast<const T*>(at[1]), *b = reinterpret_cast<const T*>(at[2]);
  const F f;
  if (steps[1] == 1 && steps[2] == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(f(a[i], b[i]));
  } else if (steps[1] == 1 && steps[2] == 0) {
    const T second = *b;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(f(a[i], second));
  } else if (steps[1] == 0 && steps[2] == 1) {
    const T first = *a;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(f(first, b[i]));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(f(a[i * steps[1]], b[i * steps[2]]));
  }
}

template <typename T>
void where_row(std::byte* const* at, const int64_t* steps, int64_t n) {
  auto* y = reinterpret_cast<T*>(at[0]);
  const auto* condition = reinterpret_cast<const uint8_t*>(at[1]);
  const auto *a = reinterpret_cast<const T*>(at[2]), *b = reinterpret_cast<const T*>(at[3]);
  for (int64_t i = 0; i < n; ++i) y[i] = condition[i * steps[1]] != 0 ? a[i * steps[2]] : b[i * steps[3]];
}

// The upper bound wins where the two cross.
template <typename T>
void clip_row(std::byte* const* at, const int64_t* steps, int64_t n) {
  auto* y = reinterpret_cast<T*>(at[0]);
  const auto* x = reinterpret_cast<const T*>(at[1]);
  const T low = *reinterpret_cast<const T*>(at[2]), high = *reinterpret_cast<const T*>(at[3]);
  for (int64_t i = 0; i < n; ++i) {
    const T v = x[i * steps[1]] < low ? low : x[i * steps[1]];
    y[i] = v > high ? high : v;
  }
}

template <typename T>
void not_row(std::byte* const* at, const int64_t* steps, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(at[0])[i] = reinterpret_cast<const T*>(at[1])[i * steps[1]] == 0 ? 1 : 0;
}

// Sums and products of signed numbers wrap round, as those of the evaluators do.
template <template <typename> typename F>
struct Wrapped {
  template <typename T>
  T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    using Wide = std::conditional_t<sizeof(U) < 4, uint32_t, U>;
    return static_cast<T>(F<Wide>()(static_cast<Wide>(a), static_cast<Wide>(b)));
  }
};

template <typename T, typename F>
constexpr RowFunction kCompare = binary_row<T, uint8_t, F>;

template <typename F>
RowFunction compare_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kCompare<float, F>;
    case DType::f64:
      return kCompare<double, F>;
    case DType::i32:
      return kCompare<int32_t, F>;
    case DType::i64:
      return kCompare<int64_t, F>;
    case DType::u8:
    case DType::boolean:
      return kCompare<uint8_t, F>;
    case DType::i8:
      return kCompare<int8_t, F>;
    default:
      return nullptr;
  }
}

template <typename F>
RowFunction arithmetic_of(DType dtype) {
  switch (dtype) {
    case DType::i32:
      return binary_row<int32_t, int32_t, F>;
    case DType::i64:
      return binary_row<int64_t, int64_t, F>;
    case DType::u8:
      return binary_row<uint8_t, uint8_t, F>;
    case DType::i8:
      return binary_row<int8_t, int8_t, F>;
    default:
      return nullptr;
  }
}

struct LogicalAnd {
  bool operator()(uint8_t a, uint8_t b) const { return a != 0 && b != 0; }
};
struct LogicalOr {
  bool operator()(uint8_t a, uint8_t b) const { return a != 0 || b != 0; }
};
struct LogicalXor {
  bool operator()(uint8_t a, uint8_t b) const { return (a != 0) != (b != 0); }
};

RowFunction where_of(int64_t bytes) {
  return bytes == 1   ? where_row<uint8_t>
         : bytes == 2 ? where_row<uint16_t>
         : bytes == 4 ? where_row<uint32_t>
         : bytes == 8 ? where_row<uint64_t>
                      : nullptr;
}

RowFunction function_of(std::string_view op, DType dtype, int64_t bytes) {
  if (op == "equal") return compare_of<std::equal_to<>>(dtype);
  if (op == "greater") return compare_of<std::greater<>>(dtype);
  if (op == "greater_or_equal") return compare_of<std::greater_equal<>>(dtype);
  if (op == "less") return compare_of<std::less<>>(dtype);
  if (op == "less_or_equal") return compare_of<std::less_equal<>>(dtype);
  if (op == "where") return where_of(bytes);
  if (op == "and" || op == "or" || op == "xor" || op == "not") {
    if (dtype != DType::boolean) return nullptr;
    if (op == "not") return not_row<uint8_t>;
    return op == "and"  ? kCompare<uint8_t, LogicalAnd>
           : op == "or" ? kCompare<uint8_t, LogicalOr>
                        : kCompare<uint8_t, LogicalXor>;
  }
  if (op == "clip") return dtype == DType::i32 ? clip_row<int32_t> : dtype == DType::i64 ? clip_row<int64_t> : nullptr;
  if (op == "add") return arithmetic_of<Wrapped<std::plus>>(dtype);
  if (op == "sub") return arithmetic_of<Wrapped<std::minus>>(dtype);
  if (op == "mul") return arithmetic_of<Wrapped<std::multiplies>>(dtype);
  return nullptr;
}

// Dims of the result with every operand's steps; neighbours that all operands walk alike are one.
std::vector<MixedDim> dims_of(NetBinder& binder, const std::vector<graph::ValueId>& operands) {
  const std::vector<int64_t> ys = binder.sizes(operands[0]);
  std::vector<MixedDim> dims(ys.size());
  for (size_t o = 0; o < operands.size(); ++o) {
    const std::vector<int64_t> sizes = binder.sizes(operands[o]);
    int64_t step = dtype_info(binder.dtype(operands[o])).block_bytes;
    for (size_t d = sizes.size(); d-- > 0;) {
      MixedDim& dim = dims[d + ys.size() - sizes.size()];
      dim.steps[o] = sizes[d] == 1 ? 0 : step;
      step *= sizes[d];
    }
  }
  std::vector<MixedDim> merged;
  for (size_t d = 0; d < ys.size(); ++d) {
    dims[d].size = ys[d];
    if (ys[d] == 1) continue;
    bool joins = !merged.empty();
    for (size_t o = 0; joins && o < operands.size(); ++o) joins = merged.back().steps[o] == dims[d].steps[o] * ys[d];
    if (joins) dims[d].size *= merged.back().size, merged.pop_back();
    merged.push_back(dims[d]);
  }
  if (merged.empty()) merged.emplace_back();
  return merged;
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_mixed(NetBinder& binder, const graph::Node& node) {
  const std::string_view op = node.op->name;
  const graph::ValueId y = node.outputs[0];
  std::vector<graph::ValueId> operands{y};
  for (graph::ValueId in : node.inputs) {
    if (!in.valid()) return unsupported("an operand is missing");
    operands.push_back(in);
  }
  if (operands.size() > kMostOperands) return unsupported("it has {} operands", node.inputs.size());
  const DType dtype = binder.dtype(op == "where" ? node.inputs[1] : node.inputs[0]);
  if (dtype_info(dtype).block_elements != 1 || dtype == DType::string)
    return unsupported("elements are {}", dtype_name(dtype));
  if (binder.sizes(y).size() > kMostDims) return unsupported("it has {} dimensions", binder.sizes(y).size());
  if (*binder.type(y).shape.elements() == 0) return unsupported("there is nothing to compute");
  auto step = std::make_unique<MixedStep>();
  step->function = function_of(op, dtype, dtype_info(dtype).block_bytes);
  if (step->function == nullptr) return unsupported("it is of {}", dtype_name(dtype));
  std::vector<MixedDim> dims = dims_of(binder, operands);
  step->inner = dims.back().size;
  for (size_t o = 0; o < operands.size(); ++o) {
    const int64_t bytes = dtype_info(binder.dtype(operands[o])).block_bytes;
    step->steps[o] = dims.back().steps[o] / bytes;
    binder.point(operands[o], &step->data[o]);
  }
  dims.pop_back();
  for (const MixedDim& d : dims) step->rows *= d.size;
  // One long row is cut into pieces that a team can share.
  if (step->rows == 1 && step->inner >= 4096) {
    const int64_t pieces = std::gcd<int64_t>(step->inner, 64);
    MixedDim cut{.size = pieces, .steps = {}};
    for (size_t o = 0; o < operands.size(); ++o)
      cut.steps[o] = step->steps[o] * dtype_info(binder.dtype(operands[o])).block_bytes * (step->inner / pieces);
    dims = {cut};
    step->rows = pieces;
    step->inner /= pieces;
  }
  step->outer = std::move(dims);
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_arithmetic(NetBinder& binder, const graph::Node& node) {
  return binder.dtype(node.inputs[0]) == DType::f32 ? bind_net_single(binder, node) : bind_net_mixed(binder, node);
}

}  // namespace nereid::runtime
