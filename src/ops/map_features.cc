// SPDX-License-Identifier: Apache-2.0
// Maps: zip_map makes them of a tensor's rows; cast_map and dict_vectorizer make tensors of them.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>

#include "ops/any_inputs.h"
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};

bool is_map(const TensorType& type) {
  return type.container == Container::kMap || type.container == Container::kSequenceOfMaps;
}

constexpr AttrSpec kZipAttrs[] = {
    {"classlabels_int64s", AttrSpec::Kind::kInts, "[]", "the keys, one a column, if they are numbers"},
    {"classlabels_strings", AttrSpec::Kind::kStrings, "[]", "the keys, one a column, if they are texts"}};

Result<std::vector<TensorType>> infer_zip(const InferContext& ctx) {
  const TensorType& x = *ctx.inputs[0];
  const bool words = !ctx.attrs.texts("classlabels_strings").empty();
  if (words != ctx.attrs.integers("classlabels_int64s").empty())
    return invalid_argument("one of classlabels_int64s and classlabels_strings should be given");
  if (!x.is_tensor() || !is_float(x.dtype)) return invalid_argument("x is {} and should be floats", x.to_string());
  const size_t keys =
      words ? ctx.attrs.texts("classlabels_strings").size() : ctx.attrs.integers("classlabels_int64s").size();
  if (x.shape.is_ranked()) {
    if (x.shape.rank() != 1 && x.shape.rank() != 2)
      return invalid_argument("x is {} and should have 1 or 2 dimensions", x.to_string());
    if (!merge(x.shape[x.shape.rank() - 1], Dim(static_cast<int64_t>(keys))))
      return invalid_argument("x is {}, but there are {} keys", x.to_string(), keys);
  }
  return std::vector<TensorType>{{.dtype = x.dtype,
                                  .shape = Shape(),
                                  .container = Container::kSequenceOfMaps,
                                  .key = words ? DType::string : DType::i64}};
}

Result<std::vector<Datum>> evaluate_zip(const AnyContext& ctx) {
  NEREID_TRY(const auto types, infer_data(ctx, infer_zip));
  const ConstTensorView x = ctx.inputs[0]->view();
  const int64_t columns = x.row_elements();
  NEREID_TRY(Tensor keys, Tensor::zeros(types[0].key, {columns}));
  if (types[0].key == DType::string) {
    keys.strings = ctx.attrs.texts("classlabels_strings");
  } else {
    std::ranges::copy(ctx.attrs.integers("classlabels_int64s"), keys.view().as<int64_t>());
  }
  std::vector<Datum> maps;
  for (int64_t row = 0; row < x.rows(); ++row) {
    NEREID_TRY(Tensor values, Tensor::zeros(x.dtype, {columns}));
    copy_elements(values.view(), 0, x, row * columns, columns);
    maps.push_back(Datum::map(keys, std::move(values)));
  }
  return one_result(Datum::sequence(x.dtype, std::move(maps)));
}

constexpr AttrSpec kCastAttrs[] = {
    {"cast_to", AttrSpec::Kind::kString, "TO_FLOAT", "the result's type: TO_FLOAT, TO_STRING or TO_INT64"},
    {"map_form", AttrSpec::Kind::kString, "DENSE", "DENSE: values by ascending key; SPARSE: each in its key's place"},
    {"max_map", AttrSpec::Kind::kInt, "1", "SPARSE: how many places there are"}};

DType cast_dtype(const InferContext& ctx, size_t) {
  const std::string& to = ctx.attrs.text("cast_to");
  return to == "TO_STRING" ? DType::string : to == "TO_INT64" ? DType::i64 : DType::f32;
}

Result<std::vector<TensorType>> infer_cast(const InferContext& ctx) {
  const TensorType& x = *ctx.inputs[0];
  const std::string& to = ctx.attrs.text("cast_to");
  const std::string& form = ctx.attrs.text("map_form");
  if (to != "TO_FLOAT" && to != "TO_STRING" && to != "TO_INT64")
    return invalid_argument("cast_to is '{}' and should be TO_FLOAT, TO_STRING or TO_INT64", to);
  if (form != "DENSE" && form != "SPARSE")
    return invalid_argument("map_form is '{}' and should be DENSE or SPARSE", form);
  if (ctx.attrs.integer("max_map") < 0) return invalid_argument("max_map is {}", ctx.attrs.integer("max_map"));
  if (x.container != Container::kMap || x.key != DType::i64)
    return invalid_argument("x is {} and should be a map of i64", x.to_string());
  const Dim size = form == "SPARSE" ? Dim(ctx.attrs.integer("max_map")) : Dim::unknown();
  return std::vector<TensorType>{{cast_dtype(ctx, 0), Shape{Dim(1), size}}};
}

// One value a key.
Status is_whole(const Datum& map) {
  if (map.keys.view().elements() == map.view().elements()) return Status::ok();
  return invalid_argument("a map has {} keys and {} values", map.keys.view().elements(), map.view().elements());
}

std::string text_of(const Tensor& values, const Elements<double>& numbers, int64_t i) {
  if (values.dtype == DType::string) return values.strings[static_cast<size_t>(i)];
  return is_float(values.dtype) ? fmt::format("{}", static_cast<float>(numbers[i]))
                                : fmt::format("{}", static_cast<int64_t>(numbers[i]));
}

Result<std::vector<Datum>> evaluate_cast(const AnyContext& ctx) {
  NEREID_TRY(const auto types, infer_data(ctx, infer_cast, true));
  const bool sparse = ctx.attrs.text("map_form") == "SPARSE";
  const Datum& x = *ctx.inputs[0];
  const Elements<int64_t> keys = load<int64_t>(x.keys.view());
  NEREID_RETURN_IF_ERROR(is_whole(x));
  const int64_t size = sparse ? ctx.attrs.integer("max_map") : keys.size();
  NEREID_TRY(Tensor y, Tensor::zeros(types[0].dtype, {1, size}));
  std::vector<int64_t> order(static_cast<size_t>(keys.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return keys[i]; });
  // Texts that are no numbers count as 0.
  const Tensor& values = x.tensor;
  Elements<double> numbers(keys.size());
  if (values.dtype != DType::string) numbers = load<double>(values.view());
  for (int64_t i = 0; values.dtype == DType::string && i < numbers.size(); ++i)
    numbers[i] = std::strtod(values.strings[static_cast<size_t>(i)].c_str(), nullptr);
  Elements<double> row(size, 0.0);
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t to = sparse ? keys[order[i]] : static_cast<int64_t>(i);
    if (to < 0 || to >= size) return invalid_argument("the key {} is not one of 0 to {}", to, size - 1);
    if (y.dtype == DType::string) {
      y.strings[static_cast<size_t>(to)] = text_of(values, numbers, order[i]);
    } else {
      row[to] = numbers[order[i]];
    }
  }
  if (y.dtype != DType::string) (void)store<double>(y.view(), row);
  return one_result(std::move(y));
}

constexpr AttrSpec kVectorizerAttrs[] = {
    {"int64_vocabulary", AttrSpec::Kind::kInts, "[]", "the key of each place, if keys are numbers"},
    {"string_vocabulary", AttrSpec::Kind::kStrings, "[]", "the key of each place, if keys are texts"}};

Result<std::vector<TensorType>> infer_vectorizer(const InferContext& ctx) {
  const TensorType& x = *ctx.inputs[0];
  const bool words = !ctx.attrs.texts("string_vocabulary").empty();
  if (words != ctx.attrs.integers("int64_vocabulary").empty())
    return invalid_argument("one of int64_vocabulary and string_vocabulary should be given");
  if (!is_map(x) || x.key != (words ? DType::string : DType::i64))
    return invalid_argument("x is {} and should be a map with the vocabulary's keys", x.to_string());
  const size_t size =
      words ? ctx.attrs.texts("string_vocabulary").size() : ctx.attrs.integers("int64_vocabulary").size();
  const Dim rows = x.container == Container::kMap ? Dim(1) : Dim::unknown();
  return std::vector<TensorType>{{x.dtype, Shape{rows, static_cast<int64_t>(size)}}};
}

template <typename T>
Status put(const Datum& map, const T* keys, const std::vector<T>& vocabulary, const TensorView& y, int64_t row) {
  std::map<T, int64_t> places;
  for (size_t i = 0; i < vocabulary.size(); ++i) places.emplace(vocabulary[i], static_cast<int64_t>(i));
  for (int64_t i = 0; i < map.keys.view().elements(); ++i) {
    const auto found = places.find(keys[i]);
    if (found == places.end()) return invalid_argument("the key {} is not in the vocabulary", keys[i]);
    copy_elements(y, row * y.sizes[1] + found->second, map.view(), i, 1);
  }
  return Status::ok();
}

Result<std::vector<Datum>> evaluate_vectorizer(const AnyContext& ctx) {
  NEREID_TRY(const auto types, infer_data(ctx, infer_vectorizer, true));
  const Datum& x = *ctx.inputs[0];
  const DType key = type_of(x).key;
  const std::span<const Datum> maps = x.kind == Datum::Kind::kMap ? std::span(&x, 1) : std::span(x.items);
  NEREID_TRY(Tensor y, Tensor::zeros(types[0].dtype, {static_cast<int64_t>(maps.size()), types[0].shape[1].size()}));
  for (size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].kind != Datum::Kind::kMap || maps[i].keys.dtype != key || maps[i].tensor.dtype != types[0].dtype)
      return invalid_argument("element {} of the sequence is another kind of map than the first", i);
    NEREID_RETURN_IF_ERROR(is_whole(maps[i]));
    const auto row = static_cast<int64_t>(i);
    if (maps[i].keys.dtype == DType::string) {
      NEREID_RETURN_IF_ERROR(
          put<std::string>(maps[i], maps[i].keys.strings.data(), ctx.attrs.texts("string_vocabulary"), y.view(), row));
    } else {
      NEREID_RETURN_IF_ERROR(put<int64_t>(maps[i], maps[i].keys.view().as<int64_t>(),
                                          ctx.attrs.integers("int64_vocabulary"), y.view(), row));
    }
  }
  return one_result(std::move(y));
}

}  // namespace

extern constexpr OpDef kCastMap = {.name = "cast_map",
                                   .summary = "a map's values as a row",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kCastAttrs,
                                   .infer = infer_cast,
                                   .evaluate_any = evaluate_cast,
                                   .infers_any = true,
                                   .dtype_of = cast_dtype};

extern constexpr OpDef kDictVectorizer = {.name = "dict_vectorizer",
                                          .summary = "each map's values as a row, each in its key's place, else zeros",
                                          .inputs = kInputs,
                                          .outputs = kOutputs,
                                          .attrs = kVectorizerAttrs,
                                          .infer = infer_vectorizer,
                                          .evaluate_any = evaluate_vectorizer,
                                          .infers_any = true};

extern constexpr OpDef kZipMap = {.name = "zip_map",
                                  .summary = "a map a row, from the keys to the row's values",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kZipAttrs,
                                  .infer = infer_zip,
                                  .evaluate_any = evaluate_zip,
                                  .infers_any = true};

}  // namespace nereid::ops
