// SPDX-License-Identifier: Apache-2.0
#include "llm/run/kv_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/checksum.h"
#include "ops/kv_row.h"

namespace nereid::llm {
namespace {

struct TypeName {
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr TypeName kTypes[] = {{"auto", std::nullopt}, {"f32", DType::f32},    {"f16", DType::f16},
                               {"bf16", DType::bf16},  {"fp8", DType::f8e4m3}, {"int8", DType::i8}};

Result<std::optional<DType>> type_of(std::string_view name) {
  for (const TypeName& t : kTypes)
    if (t.name == name) return t.dtype;
  return invalid_argument("'{}' is no type of a key/value cache; expected auto, f32, f16, bf16, fp8 or int8", name);
}

bool read_number(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= 0;
}

// "k_cache.12": 12; -1 for other names.
int64_t layer_of(std::string_view name) {
  int64_t layer = -1;
  for (std::string_view start : {"k_cache.", "v_cache."})
    if (name.starts_with(start) && !read_number(name.substr(start.size()), &layer)) layer = -1;
  return layer;
}

}  // namespace

Result<KvTypes> KvTypes::parse(std::string_view text) {
  KvTypes types;
  for (bool is_first = true; is_first || !text.empty(); is_first = false) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    if (part.empty() && is_first && comma == std::string_view::npos) break;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      if (!is_first) return invalid_argument("'{}' names no layers; expected FIRST-LAST=TYPE or LAYER=TYPE", part);
      NEREID_TRY(types.all_, type_of(part));
      continue;
    }
    Layers layers;
    const std::string_view range = part.substr(0, equals);
    const size_t dash = range.find('-');
    const std::string_view last = dash == std::string_view::npos ? range : range.substr(dash + 1);
    if (!read_number(range.substr(0, dash), &layers.first) || !read_number(last, &layers.last) ||
        layers.first > layers.last)
      return invalid_argument("'{}' is no range of layers; expected FIRST-LAST or one LAYER, counted from 0", range);
    NEREID_TRY(layers.dtype, type_of(part.substr(equals + 1)));
    types.layers_.push_back(layers);
  }
  return types;
}

std::optional<DType> KvTypes::of(int64_t layer) const {
  for (auto it = layers_.rbegin(); it != layers_.rend(); ++it)
    if (layer >= it->first && layer <= it->last) return it->dtype;
  return all_;
}

int64_t KvTypes::last_layer() const {
  int64_t last = -1;
  for (const Layers& l : layers_) last = std::max(last, l.last);
  return last;
}

Result<runtime::StateTypes> cache_types(const graph::Graph& graph, const KvTypes& types, int64_t page_tokens) {
  runtime::StateTypes changed;
  int64_t layers = 0;
  for (graph::ValueId id : graph.states()) {
    const graph::Value& v = graph.value(id);
    const int64_t layer = layer_of(v.name);
    layers = std::max(layers, layer + 1);
    if (layer < 0 || v.type.shape.rank() != 4 || !v.type.shape[3].is_static()) continue;
    const DType wanted = types.of(layer).value_or(v.type.dtype);
    std::vector<Dim> dims(v.type.shape.dims().begin(), v.type.shape.dims().end());
    const int64_t head_dim = dims[3].size() - ops::kv_row_elements(v.type.dtype, 0);
    dims[3] = ops::kv_row_elements(wanted, head_dim);
    if (page_tokens > 0) dims[2] = page_tokens;
    ops::TensorType type{wanted, Shape(std::move(dims))};
    if (type != v.type) changed[v.name] = std::move(type);
  }
  if (types.last_layer() >= layers)
    return invalid_argument("a type was given for the cache of layer {}, but the model's layers are 0 to {}",
                            types.last_layer(), layers - 1);
  return changed;
}

uint64_t cache_layout(const graph::Graph& graph) {
  XxHash64 hash;
  for (graph::ValueId id : graph.states())
    hash.update(fmt::format("{} {};", graph.value(id).name, graph.value(id).type.to_string()));
  return hash.digest();
}

std::string cache_type_name(const graph::Graph& graph) {
  std::optional<DType> all;
  for (graph::ValueId id : graph.states()) {
    const DType dtype = graph.value(id).type.dtype;
    if (all && *all != dtype) return "mixed";
    all = dtype;
  }
  for (const TypeName& t : kTypes)
    if (all && t.dtype == all) return std::string(t.name);
  return all ? std::string(dtype_name(*all)) : "none";
}

}  // namespace nereid::llm
