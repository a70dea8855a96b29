// SPDX-License-Identifier: Apache-2.0
// The ops that run graphs: if, loop, scan, sequence_map. Their regions run in graph/control.h; here stand their
// arguments and what is known of their results' types.
//
// Every region takes its formal inputs first and then, for all regions of a node alike, the values that come from
// outside; the node's last inputs are those values ("captures" many).
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

using Kind = AttrSpec::Kind;

constexpr AttrSpec kCaptures = {"captures", Kind::kInt, "",
                                "how many of the last inputs the regions take from outside"};

TensorType either(const TensorType& a, const TensorType& b) {
  TensorType type = a;
  type.shape = common_shape(a.shape, b.shape);
  if (a.container == Container::kNone && b.container == Container::kOptional) type.container = Container::kOptional;
  return type;
}

Status check_captures(const InferContext& ctx, size_t before) {
  const int64_t captures = ctx.attrs.integer("captures");
  if (captures < 0 || static_cast<size_t>(captures) + before > ctx.inputs.size())
    return invalid_argument("{} of {} inputs are said to be captures, after {} others", captures, ctx.inputs.size(),
                            before);
  return Status::ok();
}

// ---- if ------------------------------------------------------------------------------------------------------------

constexpr ArgSpec kIfInputs[] = {{.name = "condition"}, {.name = "values", .optional = true, .variadic = true}};
constexpr ArgSpec kManyOutputs[] = {{.name = "results", .variadic = true}};
constexpr AttrSpec kIfAttrs[] = {kCaptures};
constexpr std::string_view kIfRegions[] = {"then", "else"};

Result<std::vector<TensorType>> infer_if(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_captures(ctx, 1));
  const auto& a = ctx.regions[0];
  const auto& b = ctx.regions[1];
  if (a.size() != b.size()) return invalid_argument("one branch has {} results and the other {}", a.size(), b.size());
  std::vector<TensorType> types;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype != b[i].dtype)
      return invalid_argument("result {} is {} in one branch and {} in the other", i, a[i].to_string(),
                              b[i].to_string());
    types.push_back(either(a[i], b[i]));
  }
  return types;
}

// ---- loop ----------------------------------------------------------------------------------------------------------

constexpr ArgSpec kLoopInputs[] = {{.name = "trips", .optional = true},
                                   {.name = "condition", .optional = true},
                                   {.name = "values", .optional = true, .variadic = true}};
constexpr std::string_view kBody[] = {"body"};
constexpr AttrSpec kLoopAttrs[] = {kCaptures};

Result<std::vector<TensorType>> infer_loop(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_captures(ctx, 2));
  const size_t carried = ctx.inputs.size() - 2 - static_cast<size_t>(ctx.attrs.integer("captures"));
  const auto& body = ctx.regions[0];
  if (body.size() < carried + 1)
    return invalid_argument("the body has {} results and should have at least {}", body.size(), carried + 1);
  std::vector<TensorType> types;
  for (size_t i = 0; i < carried; ++i) {
    const TensorType* initial = ctx.inputs[2 + i];
    types.push_back(initial != nullptr ? either(body[1 + i], *initial) : body[1 + i]);
  }
  for (size_t i = carried + 1; i < body.size(); ++i) {
    TensorType type = body[i];
    if (type.shape.is_ranked()) {
      std::vector<Dim> dims = type.shape.dims();
      dims.insert(dims.begin(), Dim::unknown());
      type.shape = Shape(std::move(dims));
    }
    types.push_back(std::move(type));
  }
  return types;
}

// ---- scan ----------------------------------------------------------------------------------------------------------

constexpr ArgSpec kScanInputs[] = {{.name = "lengths", .optional = true},
                                   {.name = "values", .optional = true, .variadic = true}};
constexpr AttrSpec kScanAttrs[] = {
    kCaptures,
    {"num_scan_inputs", Kind::kInt, "", "how many inputs are gone through"},
    {"batched", Kind::kBool, "false",
     "the form of opset 8: dimension 0 of everything is a batch, `lengths` its lengths"},
    {"scan_input_axes", Kind::kInts, "[]", "the dimension of each that is gone through; absent: 0"},
    {"scan_input_directions", Kind::kInts, "[]", "1: from its end; absent: 0"},
    {"scan_output_axes", Kind::kInts, "[]", "the dimension of each stacked result; absent: 0"},
    {"scan_output_directions", Kind::kInts, "[]", "1: stacked from the end; absent: 0"}};

Result<std::vector<TensorType>> infer_scan(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_captures(ctx, 1));
  const int64_t inputs = static_cast<int64_t>(ctx.inputs.size()) - 1 - ctx.attrs.integer("captures");
  const int64_t carried = inputs - ctx.attrs.integer("num_scan_inputs");
  if (carried < 0 || ctx.attrs.integer("num_scan_inputs") < 1)
    return invalid_argument("{} of {} inputs are said to be gone through", ctx.attrs.integer("num_scan_inputs"),
                            inputs);
  const auto& body = ctx.regions[0];
  if (static_cast<int64_t>(body.size()) < carried)
    return invalid_argument("the body has {} results and should have at least {}", body.size(), carried);
  std::vector<TensorType> types;
  for (size_t i = 0; i < body.size(); ++i) types.push_back({body[i].dtype, Shape::unranked()});
  return types;
}

// ---- sequence_map --------------------------------------------------------------------------------------------------

constexpr ArgSpec kMapInputs[] = {{.name = "sequence"}, {.name = "values", .optional = true, .variadic = true}};

Result<std::vector<TensorType>> infer_map(const InferContext& ctx) {
  NEREID_RETURN_IF_ERROR(check_captures(ctx, 1));
  std::vector<TensorType> types = ctx.regions[0];
  for (TensorType& type : types) type.container = Container::kSequence;
  return types;
}

}  // namespace

extern constexpr OpDef kIf = {.name = "if",
                              .summary = "the results of the branch that the condition chooses",
                              .inputs = kIfInputs,
                              .outputs = kManyOutputs,
                              .attrs = kIfAttrs,
                              .infer = infer_if,
                              .infers_any = true,
                              .regions = kIfRegions};

extern constexpr OpDef kLoop = {
    .name = "loop",
    .summary =
        "the body again and again, at most `trips` times and while its first result is true; carried values, then "
        "what each turn gave, stacked",
    .inputs = kLoopInputs,
    .outputs = kManyOutputs,
    .attrs = kLoopAttrs,
    .infer = infer_loop,
    .infers_any = true,
    .regions = kBody};

extern constexpr OpDef kScan = {.name = "scan",
                                .summary = "the body over slices of the scanned inputs; states, then stacked results",
                                .inputs = kScanInputs,
                                .outputs = kManyOutputs,
                                .attrs = kScanAttrs,
                                .infer = infer_scan,
                                .infers_any = true,
                                .regions = kBody};

extern constexpr OpDef kSequenceMap = {.name = "sequence_map",
                                       .summary = "the body over the items of a sequence",
                                       .inputs = kMapInputs,
                                       .outputs = kManyOutputs,
                                       .attrs = kIfAttrs,
                                       .infer = infer_map,
                                       .infers_any = true,
                                       .regions = kBody};

}  // namespace nereid::ops
