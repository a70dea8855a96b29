// SPDX-License-Identifier: Apache-2.0
#include "llm/arch/tensor_list.h"

#include <algorithm>
#include <set>

#include "llm/arch/arch_table.h"
#include "llm/arch/bind_weights.h"
#include "llm/arch/read_config.h"
#include "llm/arch/read_rope.h"

namespace nereid::llm {
namespace {

bool is_needed(const WeightRow& row, const ModelConfig& config) {
  if (row.hf.empty()) return false;
  if (row.role == Role::kOutput) return !config.tied_head;
  return row.need == WeightRow::Need::kRequired || (row.required_if != nullptr && config.*row.required_if);
}

ListedTensor listed(const WeightRow& row, const HfRoot& root, int64_t layer, const ModelConfig& config) {
  int64_t rows = 0;
  for (const Extent part : row.rows.parts) rows += extent_size(part, config);
  ListedTensor t{.name = tensor_name(row, false, root, layer), .sizes = {rows}};
  if (row.columns != Extent::kNone) t.sizes.push_back(extent_size(row.columns, config));
  return t;
}

}  // namespace

Result<TensorList> list_tensors(const ArchInput& input) {
  if (input.hf == nullptr) return invalid_argument("tensors are listed of a config.json alone");
  NEREID_TRY(const Architecture* arch, find_architecture(input));
  if (arch->encodes) return unsupported("{} is an encoder, whose head its configuration does not tell", arch->name);
  const HyperParameters params(input);
  NEREID_TRY(const std::optional<int64_t> vocab, params.integer("", "vocab_size"));
  if (!vocab) return invalid_argument("the configuration has no vocab_size");
  TensorList list;
  NEREID_TRY(list.config, read_config(*arch, params, *vocab));
  NEREID_TRY(list.config.ropes, read_ropes(*arch, params, list.config));
  std::set<std::string> names;
  const auto add = [&](const WeightRow& row, int64_t layer) {
    // Rows of one role are alternatives, of which a file has the first; shares of a fused tensor have one name.
    const auto first = std::ranges::find_if(
        arch->weights, [&](const WeightRow& other) { return other.role == row.role && is_needed(other, list.config); });
    if (&*first != &row) return;
    ListedTensor tensor = listed(row, arch->hf_roots[0], layer, list.config);
    if (names.insert(tensor.name).second) list.tensors.push_back(std::move(tensor));
  };
  for (const WeightRow& row : arch->weights)
    if (is_needed(row, list.config) && !is_per_layer(row)) add(row, 0);
  for (int64_t layer = 0; layer < list.config.layers; ++layer)
    for (const WeightRow& row : arch->weights)
      if (is_needed(row, list.config) && is_per_layer(row)) add(row, layer);
  return list;
}

}  // namespace nereid::llm
