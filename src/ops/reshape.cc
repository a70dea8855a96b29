// SPDX-License-Identifier: Apache-2.0
// reshape: the same elements in row-major order under other sizes.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "ops/op_list.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"shape", AttrSpec::Kind::kInts, "", "the new sizes; 0: x's size in that place, -1 (once): what is left"}};

constexpr size_t kLongestSymbol = 200;  // repeated reshapes could double a product's name each time

// A product of sizes and symbols: a factor and how often each symbol occurs.
struct Product {
  int64_t factor = 1;
  std::map<std::string, int> symbols;
  bool fits = true;  // false: the factor does not fit 63 bits

  void multiply(const Dim& d) {
    if (d.is_static()) {
      fits = fits && !__builtin_mul_overflow(factor, d.size(), &factor);
      return;
    }
    std::string_view rest = d.symbol();  // a product of an earlier reshape comes apart again: "tokens*9"
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('*'), rest.size());
      const std::string_view part = rest.substr(0, end);
      int64_t number = 0;
      auto [stop, ec] = std::from_chars(part.data(), part.data() + part.size(), number);
      if (ec == std::errc() && stop == part.data() + part.size()) {
        fits = fits && !__builtin_mul_overflow(factor, number, &factor);
      } else {
        ++symbols[std::string(part)];
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
};

// What is left of `all` when divided by `part`, if that is one dimension.
Result<Dim> quotient(Product all, const Product& part) {
  for (const auto& [name, count] : part.symbols) {
    all.symbols[name] -= count;
    if (all.symbols[name] < 0) return invalid_argument("'{}' occurs less often in x than in the new shape", name);
    if (all.symbols[name] == 0) all.symbols.erase(name);
  }
  if (part.factor == 0 || all.factor % part.factor != 0)
    return invalid_argument("{} elements cannot be divided by {}", all.factor, part.factor);
  const int64_t factor = all.factor / part.factor;
  if (all.symbols.empty()) return Dim(factor);
  std::string name;
  for (const auto& [symbol, count] : all.symbols)
    for (int i = 0; i < count; ++i) name += (name.empty() ? "" : "*") + symbol;
  if (name.size() > kLongestSymbol)
    return unsupported("the product of dimensions '{}...' is too long", name.substr(0, 32));
  return Dim::symbol(factor == 1 ? name : name + "*" + std::to_string(factor));
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  const std::vector<int64_t>& wanted = ctx.attrs.integers("shape");
  if (dtype_info(rule.type(0).dtype).block_elements != 1)
    return unsupported("{} cannot be reshaped: its elements share bytes", rule.describe(0));
  Product all;
  for (const Dim& d : rule.shape(0).dims()) all.multiply(d);
  Product known;
  std::vector<Dim> dims;
  int open = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) return invalid_argument("shape[{}] is {}, which is no size", i, wanted[i]);
    if (wanted[i] == -1) {
      if (open >= 0) return invalid_argument("shape has -1 in places {} and {}; it may stand once", open, i);
      open = static_cast<int>(i);
      dims.emplace_back(1);
      continue;
    }
    if (wanted[i] == 0 && static_cast<int>(i) >= rule.rank(0))
      return invalid_argument("shape[{}] is 0, but {} has no such dimension", i, rule.describe(0));
    dims.push_back(wanted[i] == 0 ? rule.dim(0, static_cast<int>(i)) : Dim(wanted[i]));
    known.multiply(dims.back());
  }
  if (!all.fits || !known.fits) return invalid_argument("{} or its new shape has too many elements", rule.describe(0));
  auto rest =
      quotient(all, known).with(fmt::format("{} cannot take the shape {}", rule.describe(0), Shape(dims).to_string()));
  if (open >= 0) {
    NEREID_RETURN_IF_ERROR(rest);
    dims[static_cast<size_t>(open)] = *rest;
  } else if (all.symbols == known.symbols && (!rest || !(*rest == Dim(1)))) {
    return invalid_argument("{} has not as many elements as the shape {}", rule.describe(0), Shape(dims).to_string());
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  std::memcpy(ctx.outputs[0].data, ctx.inputs[0].data, static_cast<size_t>(ctx.inputs[0].bytes()));
  return Status::ok();
}

}  // namespace

constexpr OpDef kReshape = {.name = "reshape",
                            .summary = "x's elements in order under other sizes",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attrs = kAttrs,
                            .infer = infer,
                            .evaluate = evaluate,
                            .cost = cost_per_element<0>};

}  // namespace nereid::ops
