// SPDX-License-Identifier: Apache-2.0
// From the names in a weight table to constants of the graph: found, checked, and never copied if large.
#include "llm/arch/bind_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/arch/read_vector.h"

namespace nereid::llm {
namespace {

using graph::ValueId;

std::string replaced(std::string_view pattern, std::string_view what, std::string_view with) {
  const size_t at = pattern.find(what);
  if (at == std::string_view::npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, at), with, pattern.substr(at + what.size()));
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

// A row with its pattern filled in and its tensor found.
struct Bound {
  const WeightRow* row;
  std::string file_name;
  std::string value_name;
  const ConstTensorView* tensor;
};

class Binder {
 public:
  Binder(const ArchInput& input, const Architecture& arch, const HfRoot& root, ModelConfig& config, graph::Graph& graph,
         std::vector<std::string>& used)
      : input_(input), arch_(arch), root_(root), config_(config), graph_(graph), used_(used) {}

  // Layer by layer, so that constants lie in the order in which a step reads them.
  Result<Weights> run() {
    for (const WeightRow& row : arch_.weights) {
      if (!is_per_layer(row)) NEREID_RETURN_IF_ERROR(bind(row, 0));
    }
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      for (const WeightRow& row : arch_.weights) {
        if (is_per_layer(row)) NEREID_RETURN_IF_ERROR(bind(row, layer));
      }
    }
    NEREID_RETURN_IF_ERROR(settle_head());
    return std::move(weights_);
  }

 private:
  bool gguf() const { return input_.gguf != nullptr; }

  Status bind(const WeightRow& row, int64_t layer) {
    const std::string name = tensor_name(row, gguf(), root_, layer);
    if (name.empty() || weights_.has(row.role, layer)) return Status::ok();
    const ConstTensorView* tensor = input_.tensor(name);
    if (tensor == nullptr) return is_missing(row, layer) ? missing(row, name, layer) : Status::ok();
    used_.push_back(name);
    if (is_idle(row.role)) return Status::ok();
    const Bound bound = {&row, name, replaced(row.gguf.empty() ? name : row.gguf, "{i}", std::to_string(layer)),
                         tensor};
    return (row.columns == Extent::kNone ? bind_vector(bound, layer) : bind_matrix(bound, layer))
        .with("tensor " + name);
  }

  // There, but for nothing: a second copy of the embedding table, or what this use of the model does not need.
  bool is_idle(Role role) const {
    if (role == Role::kOutput) return config_.tied_head || config_.encodes;
    const bool is_head = role == Role::kPooler || role == Role::kPoolerBias || role == Role::kClassifier ||
                         role == Role::kClassifierBias;
    return is_head && !config_.classifies;
  }

  bool is_missing(const WeightRow& row, int64_t layer) const {
    const bool needed = row.need == WeightRow::Need::kRequired || (row.required_if && config_.*row.required_if);
    // A later row of the same role may still supply it.
    const bool has_alternative = std::ranges::any_of(arch_.weights, [&](const WeightRow& other) {
      if (&other <= &row || other.role != row.role) return false;
      return input_.tensor(tensor_name(other, gguf(), root_, layer)) != nullptr;
    });
    return needed && !has_alternative;
  }

  Status missing(const WeightRow& row, std::string_view name, int64_t layer) const {
    if (is_per_layer(row)) {
      return not_found("The tensor {} is missing (layer {} of {} that the hyper-parameters announce).", name, layer,
                       config_.layers);
    }
    return not_found("The tensor {} is missing.", name);
  }

  std::vector<int64_t> expected_sizes(const WeightRow& row) const {
    int64_t rows = 0;
    for (const Extent part : row.rows.parts) rows += extent_size(part, config_);
    if (row.columns == Extent::kNone) return {rows};
    return {rows, extent_size(row.columns, config_)};
  }

  Status check_sizes(const Bound& b) const {
    const std::vector<int64_t> expected = expected_sizes(*b.row);
    if (b.tensor->sizes == expected) return Status::ok();
    return invalid_argument("expected {}, found {}", sizes_text(expected), sizes_text(b.tensor->sizes));
  }

  // [first row, rows) of what the role takes of a fused tensor; rows of a vector are its elements.
  std::pair<int64_t, int64_t> taken_rows(const WeightRow& row) const {
    int64_t first = 0;
    for (size_t i = 0; i < row.rows.take; ++i) first += extent_size(row.rows.parts[i], config_);
    return {first, extent_size(row.rows.parts[row.rows.take], config_)};
  }

  Status bind_matrix(const Bound& b, int64_t layer) {
    NEREID_RETURN_IF_ERROR(check_sizes(b));
    const DTypeInfo& type = dtype_info(b.tensor->dtype);
    if (type.kind != DTypeInfo::Kind::kFloat && type.kind != DTypeInfo::Kind::kBlock) {
      return unsupported("its elements are {}; a weight must be of a floating-point or block type", type.name);
    }
    const auto [first, rows] = taken_rows(*b.row);
    const int64_t columns = extent_size(b.row->columns, config_);
    const std::optional<int64_t> row_bytes = dtype_bytes(b.tensor->dtype, columns);
    if (!row_bytes) return invalid_argument("rows of {} elements are no whole {} blocks", columns, type.name);
    const std::byte* data = static_cast<const std::byte*>(b.tensor->data) + first * *row_bytes;
    const ConstTensorView view(data, b.tensor->dtype, {rows, columns});
    add(b, layer, {view.dtype, {rows, columns}}, view);
    return Status::ok();
  }

  Status bind_vector(const Bound& b, int64_t layer) {
    NEREID_RETURN_IF_ERROR(check_sizes(b));
    const auto [first, size] = taken_rows(*b.row);
    const double offset = is_norm(b.row->role) ? config_.norm_offset : 0;
    NEREID_TRY(std::vector<float> values, read_vector(*b.tensor, first, size));
    if (is_rope_factor(b.row->role)) return set_rope_factors(b.row->role, values);
    if (b.tensor->dtype == DType::f32 && offset == 0) {
      add(b, layer, {DType::f32, {size}}, ConstTensorView(b.tensor->as<float>() + first, DType::f32, {size}));
      return Status::ok();
    }
    for (float& v : values) v = static_cast<float>(v + offset);
    weights_.set(b.row->role, layer, graph_.add_constant_f32(b.value_name, std::move(values), {size}));
    return Status::ok();
  }

  void add(const Bound& b, int64_t layer, ops::TensorType type, const ConstTensorView& view) {
    graph::ConstantData data;
    data.parts.push_back(view);
    weights_.set(b.row->role, layer, graph_.add_constant(b.value_name, std::move(type), std::move(data)));
  }

  Status set_rope_factors(Role role, const std::vector<float>& values) {
    RopeConfig& rope = config_.ropes[0];
    auto& target = role == Role::kRopeDivisors       ? rope.divisors
                   : role == Role::kRopeShortFactors ? rope.short_factors
                                                     : rope.long_factors;
    target.assign(values.begin(), values.end());
    return Status::ok();
  }

  // A head of its own, or the embedding table's: GGUF files say which by what they hold, configs say it in a word.
  Status settle_head() {
    if (config_.encodes) return Status::ok();
    if (gguf()) config_.tied_head = !weights_.has(Role::kOutput, 0);
    if (config_.tied_head || weights_.has(Role::kOutput, 0)) return Status::ok();
    return not_found(
        "The output matrix is missing, and config.json does not say that it is the embedding table "
        "(tie_word_embeddings).");
  }

  static bool is_norm(Role role) {
    switch (role) {
      case Role::kOutputNorm:
      case Role::kAttentionNorm:
      case Role::kQueryNorm:
      case Role::kKeyNorm:
      case Role::kPostAttentionNorm:
      case Role::kMlpNorm:
      case Role::kPostMlpNorm:
        return true;
      default:
        return false;
    }
  }
  static bool is_rope_factor(Role role) {
    return role == Role::kRopeDivisors || role == Role::kRopeShortFactors || role == Role::kRopeLongFactors;
  }

  const ArchInput& input_;
  const Architecture& arch_;
  const HfRoot& root_;
  ModelConfig& config_;
  graph::Graph& graph_;
  std::vector<std::string>& used_;
  Weights weights_;
};

const WeightRow* row_of(const Architecture& arch, Role role) {
  const auto it = std::ranges::find(arch.weights, role, &WeightRow::role);
  return it == arch.weights.end() ? nullptr : &*it;
}

}  // namespace

bool is_per_layer(const WeightRow& row) {
  return row.gguf.find("{i}") != std::string_view::npos || row.hf.find("{i}") != std::string_view::npos;
}

int64_t extent_size(Extent extent, const ModelConfig& c) {
  switch (extent) {
    case Extent::kVocab:
      return c.vocab;
    case Extent::kHidden:
      return c.hidden;
    case Extent::kFfn:
      return c.ffn;
    case Extent::kQuery:
      return c.query_width();
    case Extent::kKeyValue:
      return c.kv_width();
    case Extent::kHeadDim:
      return c.head_dim;
    case Extent::kRopePairs:
      return c.ropes[0].dim / 2;
    case Extent::kPositionPad:
      return c.position_offset;
    case Extent::kPositions:
      return c.context_length;
    case Extent::kTypes:
      return c.types;
    case Extent::kLabels:
      return c.labels;
    case Extent::kHeads:
      return c.heads;
    case Extent::kBuckets:
      return kDistanceBuckets;
    case Extent::kNone:
      break;
  }
  return 0;
}

std::string tensor_name(const WeightRow& row, bool gguf, const HfRoot& root, int64_t layer) {
  std::string name = replaced(gguf ? row.gguf : row.hf, "{i}", std::to_string(layer));
  if (!gguf) name = replaced(replaced(name, "{body}", root.body), "{head}", root.head);
  return name;
}

const HfRoot& find_hf_root(const ArchInput& input, const Architecture& arch) {
  const WeightRow* row = row_of(arch, Role::kTokenEmbedding);
  for (const HfRoot& root : arch.hf_roots) {
    if (row != nullptr && input.tensor(tensor_name(*row, false, root, 0)) != nullptr) return root;
  }
  return arch.hf_roots[0];
}

int64_t find_labels(const ArchInput& input, const Architecture& arch, const HfRoot& root) {
  const WeightRow* row = row_of(arch, Role::kClassifier);
  const ConstTensorView* tensor =
      row == nullptr ? nullptr : input.tensor(tensor_name(*row, input.gguf != nullptr, root, 0));
  return tensor == nullptr || tensor->rank() != 2 ? 0 : tensor->sizes[0];
}

Result<const ConstTensorView*> find_embedding(const ArchInput& input, const Architecture& arch, const HfRoot& root) {
  const WeightRow* row = row_of(arch, Role::kTokenEmbedding);
  if (row == nullptr) return internal("The table of {} has no embedding row.", arch.name);
  const std::string name = tensor_name(*row, input.gguf != nullptr, root, 0);
  const ConstTensorView* tensor = input.tensor(name);
  if (tensor == nullptr) return not_found("The tensor {} is missing.", name);
  if (tensor->rank() != 2) {
    return invalid_argument("tensor {}: expected a matrix, found {}", name, sizes_text(tensor->sizes));
  }
  return tensor;
}

Result<Weights> bind_weights(const ArchInput& input, const Architecture& arch, const HfRoot& root, ModelConfig& config,
                             graph::Graph& graph, std::vector<std::string>& used) {
  return Binder(input, arch, root, config, graph, used).run();
}

}  // namespace nereid::llm
