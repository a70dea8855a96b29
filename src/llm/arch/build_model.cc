// SPDX-License-Identifier: Apache-2.0
// The order of building: architecture, hyper-parameters, weights, inputs and states, recipes.
#include "llm/arch/build_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/float_convert.h"
#include "base/json.h"
#include "llm/arch/arch_table.h"
#include "llm/arch/bind_weights.h"
#include "llm/arch/distance_bias.h"
#include "llm/arch/hyper_parameters.h"
#include "llm/arch/read_config.h"
#include "llm/arch/read_rope.h"
#include "llm/block/head.h"

namespace nereid::llm {
namespace {

using graph::ValueId;

Status check_options(const BuildOptions& o) {
  if (o.kv_dtype != DType::f32 && o.kv_dtype != DType::f16 && o.kv_dtype != DType::bf16) {
    return unsupported("A key/value cache of {} is not supported; expected f32, f16 or bf16.", dtype_name(o.kv_dtype));
  }
  if (o.page_tokens < 1 || o.page_tokens > 65536) {
    return invalid_argument("Cache pages of {} tokens were asked for; expected 1 to 65536.", o.page_tokens);
  }
  if (o.max_context < 0 || o.max_context > (int64_t{1} << 30)) {
    return invalid_argument("A context of {} tokens was asked for; expected at most 2^30.", o.max_context);
  }
  return Status::ok();
}

// Models that scale embeddings were trained in bf16 with the factor rounded to it (25.25 for a width of 640); only an
// f32 table is multiplied by the exact root.
double embedding_scale(const Architecture& arch, const ConstTensorView& table, const ModelConfig& config) {
  if (arch.embedding_scale == EmbeddingScale::kOne) return 1;
  const float root = std::sqrt(static_cast<float>(config.hidden));
  return static_cast<double>(table.dtype == DType::f32 ? root : bf16_to_f32(f32_to_bf16(root)));
}

void add_inputs(Block& b) {
  const Dim tokens = Dim::symbol("tokens");
  const auto i32 = [&](std::string name, Shape shape) {
    return b.graph.add_input(std::move(name), {DType::i32, std::move(shape)});
  };
  b.tokens = i32("tokens", {tokens});
  b.positions = i32("positions", {tokens});
  if (b.config.encodes) {
    if (b.config.types > 0) b.types = i32("types", {tokens});
    b.starts = i32("starts", {Dim::symbol("boundaries")});
    if (b.config.classifies) b.output_rows = i32("output_rows", {Dim::symbol("outputs")});
    return;
  }
  b.sequence = i32("sequence", {tokens});
  b.page_table = i32("page_table", {Dim::symbol("sequences"), Dim::symbol("pages_per_sequence")});
  b.output_rows = i32("output_rows", {Dim::symbol("outputs")});
}

void add_caches(Block& b, const BuildOptions& options) {
  if (b.config.encodes) return;
  const Shape shape = {Dim::symbol("pages"), b.config.kv_heads, options.page_tokens, b.config.head_dim};
  for (int64_t i = 0; i < b.config.layers; ++i) {
    const ValueId keys = b.graph.add_state(fmt::format("k_cache.{}", i), {options.kv_dtype, shape});
    const ValueId values = b.graph.add_state(fmt::format("v_cache.{}", i), {options.kv_dtype, shape});
    b.caches.push_back({keys, values});
  }
}

void add_ropes(Block& b, int64_t max_context) {
  for (const RopeConfig& rope : b.config.ropes) {
    RopeTable table = rope_table(rope, max_context);
    const auto pairs = static_cast<int64_t>(table.inv_freq.size());
    b.inv_freq.push_back(b.graph.add_constant_f32("rope_inv_freq", std::move(table.inv_freq), {pairs}));
    b.rope_scale.push_back(table.scale);
  }
}

Status run_recipes(Block& b, const Architecture& arch) {
  NEREID_TRY(ValueId x, arch.embed(b));
  for (int64_t layer = 0; layer < b.config.layers; ++layer) {
    NEREID_TRY(x, arch.layer(b, layer, x));
  }
  const HeadRecipe head = b.config.encodes && !arch.encodes ? hidden_head : arch.head;
  NEREID_TRY(const ValueId result, head(b, x));
  b.graph.add_output(result);
  return Status::ok();
}

// Buffers that older exporters saved although they follow from the configuration.
bool is_derived(std::string_view name) {
  return name.ends_with("rotary_emb.inv_freq") || name.ends_with("embeddings.position_ids");
}

// What the model's vectors are for: whether the files say that it judges texts.
Status read_use(const Architecture& arch, const ArchInput& input, const HfRoot& root, const BuildOptions& options,
                ModelConfig& config) {
  config.encodes = arch.encodes || options.encodes;
  config.bidirectional = arch.encodes;
  if (!arch.encodes) return Status::ok();
  config.labels = find_labels(input, arch, root);
  config.classifies = input.gguf != nullptr && config.labels > 0;
  const Json* list = json_member(input.hf, "architectures");
  if (list == nullptr || !list->is_array() || list->empty() || !(*list)[0].is_string()) return Status::ok();
  const std::string name = (*list)[0].get<std::string>();
  if (name.ends_with("ForTokenClassification") || name.ends_with("ForQuestionAnswering") ||
      name.ends_with("ForMultipleChoice")) {
    return unsupported("The model is a {}; encoders give vectors or judge whole texts (ForSequenceClassification).",
                       name.substr(0, 64));
  }
  config.classifies = name.ends_with("ForSequenceClassification");
  if (config.classifies && config.labels < 1) {
    return not_found("The model is a {}, but the matrix of its classifier is missing.", name.substr(0, 64));
  }
  return Status::ok();
}

std::vector<std::string> unused_tensors(const ArchInput& input, std::vector<std::string> used) {
  std::ranges::sort(used);
  std::vector<std::string> unused;
  for (const std::string& name : input.tensor_names) {
    if (!std::ranges::binary_search(used, name) && !is_derived(name)) unused.push_back(name);
  }
  std::ranges::sort(unused);
  return unused;
}

}  // namespace

std::string BuiltModel::warning() const {
  if (unused_tensors.empty()) return {};
  constexpr size_t kShown = 8;
  const size_t shown = std::min(kShown, unused_tensors.size());
  const std::span<const std::string> first(unused_tensors.data(), shown);
  const std::string rest =
      shown < unused_tensors.size() ? fmt::format(" and {} more", unused_tensors.size() - shown) : "";
  return fmt::format("{} tensors of the files are no part of a {} {} and are ignored: {}{}.", unused_tensors.size(),
                     config.architecture, config.encodes ? "encoder" : "decoder", fmt::join(first, ", "), rest);
}

Result<BuiltModel> build_model(const Architecture& arch, const ArchInput& input, const BuildOptions& options) {
  NEREID_RETURN_IF_ERROR(check_options(options));
  const HfRoot& root = find_hf_root(input, arch);
  NEREID_TRY(const ConstTensorView* table, find_embedding(input, arch, root));
  const HyperParameters params(input);
  BuiltModel built;
  NEREID_TRY(built.config, read_config(arch, params, table->sizes[0]));
  NEREID_TRY(built.config.ropes, read_ropes(arch, params, built.config));
  built.config.embedding_scale = embedding_scale(arch, *table, built.config);
  NEREID_RETURN_IF_ERROR(read_use(arch, input, root, options, built.config));
  built.max_context = options.max_context > 0 ? options.max_context : built.config.context_length;

  built.graph = graph::Graph(std::string(arch.name));
  std::vector<std::string> used;
  NEREID_TRY(Weights weights, bind_weights(input, arch, root, built.config, built.graph, used));
  NEREID_RETURN_IF_ERROR(add_distance_bias(built.config, built.graph, weights));
  for (const RopeConfig& rope : built.config.ropes) {
    NEREID_RETURN_IF_ERROR(check_rope(rope, built.config.head_dim));
  }
  built.unused_tensors = unused_tensors(input, std::move(used));

  Block block{.graph = built.graph, .config = built.config, .weights = weights};
  add_inputs(block);
  add_caches(block, options);
  add_ropes(block, built.max_context);
  NEREID_RETURN_IF_ERROR(run_recipes(block, arch));
  return built;
}

Result<BuiltModel> build_model(const ArchInput& input, const BuildOptions& options) {
  NEREID_TRY(const Architecture* arch, find_architecture(input));
  return build_model(*arch, input, options).with(fmt::format("building a {} model", arch->name));
}

}  // namespace nereid::llm
