// SPDX-License-Identifier: Apache-2.0
#include "compile/open_adapter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/float_convert.h"
#include "compile/joined_weights.h"
#include "import/peft/peft.h"
#include "llm/arch/module_names.h"

namespace nereid::compile {
namespace {

using import::peft::Module;

// Rows of q and k lie as GGUF's converter puts them for interleaved rope: halves of a head zipped together.
bool is_interleaved(const graph::Graph& g) {
  for (graph::NodeId n : g.order())
    for (const char* attribute : {"rope_interleaved", "interleaved"}) {
      const graph::Node& node = g.node(n);
      if ((node.op->name == "attention" || node.op->name == "rope") && node.attrs.has(attribute) &&
          node.attrs.boolean(attribute))
        return true;
    }
  return false;
}

// The place of a row of q or k among those of its head.
int64_t zipped(int64_t row, int64_t head_dim) {
  const int64_t in_head = row % head_dim, half = head_dim / 2;
  return row - in_head + in_head % half * 2 + in_head / half;
}

bool has_only_numbers(const ConstTensorView& t) {
  const auto all = [&]<typename T>(const T* values, auto to_f32) {
    return std::all_of(values, values + t.elements(), [&](T v) { return std::isfinite(to_f32(v)); });
  };
  if (t.dtype == DType::f32) return all(t.as<float>(), [](float v) { return v; });
  if (t.dtype == DType::f16) return all(t.as<uint16_t>(), [](uint16_t v) { return f16_to_f32(v); });
  return all(t.as<uint16_t>(), [](uint16_t v) { return bf16_to_f32(v); });
}

class Binder {
 public:
  Binder(const graph::Graph& graph, const Json& model)
      : graph_(graph), model_(model), rows_(matrix_rows(graph)), is_interleaved_(compile::is_interleaved(graph)) {}

  Status add(const Module& m, double factor) {
    NEREID_TRY(const std::string architecture, json_string(model_, "architecture").with("the engine"));
    NEREID_TRY(const std::vector<llm::ModuleWeight> weights, llm::module_weights(architecture, m.name));
    int64_t rows = 0;
    std::vector<std::pair<llm::Role, WeightRows>> places;
    for (const llm::ModuleWeight& weight : weights) {
      const WeightRows* place = find(weight);
      if (!place) return not_found("the model has no module '{}': it has no matrix {}", m.name, weight.constant);
      places.emplace_back(weight.role, *place);
      rows += place->count;
    }
    const int64_t cols = graph_.value(places[0].second.constant).type.shape[1].size();
    if (m.a.sizes[1] != cols || m.b.sizes[0] != rows)
      return invalid_argument(
          "the module '{}' takes {} numbers and gives {}, but lora_A is [{}, {}] and lora_B [{}, {}]: the adapter is "
          "for "
          "another model",
          m.name, cols, rows, m.a.sizes[0], m.a.sizes[1], m.b.sizes[0], m.b.sizes[1]);
    if (!has_only_numbers(m.a) || !has_only_numbers(m.b))
      return invalid_argument("lora_A or lora_B of '{}' holds infinities or what is no number", m.name);
    const auto scale = static_cast<float>(m.scale * factor);
    if (!std::isfinite(scale))
      return invalid_argument("the scale of '{}' is {}; expected a finite number", m.name, scale);
    int64_t first = 0;
    for (const auto& [role, place] : places) {
      NEREID_TRY(const std::byte* up, up_rows(m, role, first, place.count));
      sources_.push_back({.weight = place.constant,
                          .first_row = place.first,
                          .rows = place.count,
                          .cols = cols,
                          .rank = m.rank(),
                          .dtype = m.a.dtype,
                          .down = m.a.as<std::byte>(),
                          .up = up,
                          .scale = scale});
      first += place.count;
    }
    return Status::ok();
  }

  Result<std::shared_ptr<const runtime::Adapter>> finish() const { return runtime::Adapter::make(graph_, sources_); }

 private:
  // A head that is tied to the embedding table has no matrix of its own.
  const WeightRows* find(const llm::ModuleWeight& weight) const {
    auto it = rows_.find(weight.constant);
    if (it == rows_.end() && weight.role == llm::Role::kOutput) it = rows_.find("token_embd.weight");
    return it == rows_.end() ? nullptr : &it->second;
  }

  // Rows [first, first + count) of B, in the order that the graph has them.
  Result<const std::byte*> up_rows(const Module& m, llm::Role role, int64_t first, int64_t count) {
    const int64_t row_bytes = *dtype_bytes(m.b.dtype, m.rank());
    const std::byte* rows = m.b.as<std::byte>() + first * row_bytes;
    if (!is_interleaved_ || (role != llm::Role::kQuery && role != llm::Role::kKey)) return rows;
    NEREID_TRY(const int64_t head_dim, json_int(model_, "head_dim").with("the engine"));
    if (head_dim < 2 || head_dim % 2 != 0 || count % head_dim != 0)
      return invalid_argument(
          "the engine says that a head has {} numbers, which does not fit {} rows of queries or keys", head_dim, count);
    copies_.emplace_back(static_cast<size_t>(count * row_bytes));
    for (int64_t row = 0; row < count; ++row)
      std::memcpy(copies_.back().data() + zipped(row, head_dim) * row_bytes, rows + row * row_bytes,
                  static_cast<size_t>(row_bytes));
    return copies_.back().data();
  }

  const graph::Graph& graph_;
  const Json& model_;
  std::map<std::string, WeightRows, std::less<>> rows_;
  bool is_interleaved_;
  std::vector<runtime::LowRankSource> sources_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace

Result<OpenedAdapter> open_adapter(std::span<const AdapterSource> sources, const runtime::Program& program,
                                   const Json& info) {
  NEREID_TRY(const Json* model, json_object(info, "model").with("the engine"));
  OpenedAdapter opened;
  Binder binder(program.graph(), *model);
  std::vector<import::peft::Adapter> adapters;  // what the binder gathers points into their files
  for (const AdapterSource& source : sources) {
    if (!std::isfinite(source.scale))
      return invalid_argument("the scale of the adapter '{}' is {}; expected a finite number", source.path,
                              source.scale);
    NEREID_TRY(import::peft::Adapter adapter, import::peft::open(source.path));
    if (adapters.empty()) opened.base_model = adapter.base_model;
    adapters.push_back(std::move(adapter));
    for (const Module& m : adapters.back().modules) {
      NEREID_RETURN_IF_ERROR(binder.add(m, source.scale).with(source.path));
      opened.rank = std::max(opened.rank, m.rank());
      ++opened.modules;
    }
  }
  NEREID_TRY(opened.adapter, binder.finish());
  return opened;
}

}  // namespace nereid::compile
