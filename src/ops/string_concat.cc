// SPDX-License-Identifier: Apache-2.0
// string_concat and string_split: texts put together element by element, and cut at a delimiter.
#include <algorithm>
#include <string>
#include <string_view>

#include "ops/any_inputs.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kConcatInputs[] = {{.name = "a"}, {.name = "b"}};
constexpr ArgSpec kConcatOutputs[] = {{.name = "y"}};

Status is_string(const ShapeRule& rule, size_t i) {
  if (rule.type(i).dtype == DType::string) return Status::ok();
  return invalid_argument("{} should be string", rule.describe(i));
}

Result<std::vector<TensorType>> infer_concat(const InferContext& ctx) {
  ShapeRule rule(ctx, kConcatInputs);
  NEREID_RETURN_IF_ERROR(is_string(rule, 0));
  NEREID_RETURN_IF_ERROR(is_string(rule, 1));
  auto shape = broadcast(rule.shape(0), rule.shape(1));
  if (!shape) return invalid_argument("{} and {} do not broadcast", rule.describe(0), rule.describe(1));
  return std::vector<TensorType>{{DType::string, *std::move(shape)}};
}

Status evaluate_concat(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  const auto n = y.elements();
  std::vector<std::string> parts[2];
  for (size_t i = 0; i < 2; ++i) {
    // The input as large as the result.
    const ConstTensorView& x = ctx.inputs[i];
    const std::vector<int64_t> own = row_major_steps(x.sizes);
    std::vector<int64_t> steps(y.sizes.size(), 0);
    for (size_t d = 1; d <= own.size(); ++d)
      if (x.sizes[own.size() - d] != 1) steps[steps.size() - d] = own[own.size() - d];
    parts[i].resize(static_cast<size_t>(n));
    if (n > 0) copy_by_steps({parts[i].data(), DType::string, y.sizes}, x, steps);
  }
  for (int64_t i = 0; i < n; ++i)
    y.as<std::string>()[i] = parts[0][static_cast<size_t>(i)] + parts[1][static_cast<size_t>(i)];
  return Status::ok();
}

constexpr ArgSpec kSplitInputs[] = {{.name = "x"}};
constexpr ArgSpec kSplitOutputs[] = {{.name = "y"}, {.name = "counts"}};
constexpr AttrSpec kSplitAttrs[] = {
    {"delimiter", AttrSpec::Kind::kString, "\"\"", "what stands between the parts; empty: any white space, in runs"},
    {"maxsplit", AttrSpec::Kind::kInt, "-1",
     "cuts at most, from the left; the last part is what is left; -1: any number"}};

Result<std::vector<TensorType>> infer_split(const InferContext& ctx) {
  ShapeRule rule(ctx, kSplitInputs);
  NEREID_RETURN_IF_ERROR(is_string(rule, 0));
  if (ctx.attrs.integer("maxsplit") < -1)
    return invalid_argument("maxsplit is {} and should be at least -1", ctx.attrs.integer("maxsplit"));
  std::vector<Dim> dims = rule.shape(0).dims();
  dims.push_back(Dim::unknown());
  return std::vector<TensorType>{{DType::string, Shape(std::move(dims))}, {DType::i64, rule.shape(0)}};
}

DType dtype_of_split(const InferContext&, size_t output) {
  return output == 0 ? DType::string : DType::i64;
}

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

std::vector<std::string_view> split_at(std::string_view text, std::string_view delimiter, uint64_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() < most) {
    const size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_at_space(std::string_view text, uint64_t most) {
  std::vector<std::string_view> parts;
  const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size())); };
  for (skip(); !text.empty(); skip()) {
    if (parts.size() == most) {
      parts.push_back(text);  // what is left, with the white space at its end
      break;
    }
    const size_t end = std::min(text.find_first_of(kWhiteSpace), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

Result<std::vector<Datum>> evaluate_split(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer_split));
  const ConstTensorView x = ctx.inputs[0]->view();
  const std::string& delimiter = ctx.attrs.text("delimiter");
  const auto most = static_cast<uint64_t>(ctx.attrs.integer("maxsplit"));  // -1: more than there can be
  NEREID_TRY(Tensor counts, Tensor::zeros(DType::i64, x.sizes));
  std::vector<std::vector<std::string_view>> parts;
  size_t longest = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    const std::string& text = x.as<std::string>()[i];
    parts.push_back(delimiter.empty() ? split_at_space(text, most) : split_at(text, delimiter, most));
    longest = std::max(longest, parts.back().size());
    counts.view().as<int64_t>()[i] = static_cast<int64_t>(parts.back().size());
  }
  std::vector<int64_t> sizes = x.sizes;
  sizes.push_back(static_cast<int64_t>(longest));
  NEREID_TRY(Tensor y, Tensor::zeros(DType::string, std::move(sizes)));
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = 0; j < parts[i].size(); ++j) y.strings[i * longest + j] = parts[i][j];
  std::vector<Datum> results;
  results.emplace_back(std::move(y));
  results.emplace_back(std::move(counts));
  return results;
}

}  // namespace

extern constexpr OpDef kStringConcat = {.name = "string_concat",
                                        .summary = "y = a followed by b, broadcast as numpy does",
                                        .inputs = kConcatInputs,
                                        .outputs = kConcatOutputs,
                                        .attrs = {},
                                        .infer = infer_concat,
                                        .evaluate = evaluate_concat,
                                        .cost = cost_per_element<0>};

extern constexpr OpDef kStringSplit = {
    .name = "string_split",
    .summary = "the parts of each text between delimiters, filled up with empty ones, and how many there are",
    .inputs = kSplitInputs,
    .outputs = kSplitOutputs,
    .attrs = kSplitAttrs,
    .infer = infer_split,
    .cost = cost_per_element<0>,
    .evaluate_any = evaluate_split,
    .dtype_of = dtype_of_split};

}  // namespace nereid::ops
