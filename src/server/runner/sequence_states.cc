// SPDX-License-Identifier: Apache-2.0
#include "server/runner/sequence_states.h"

#include <algorithm>

#include "base/file.h"
#include "server/core/infer_check.h"

namespace nereid::server {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;  // of one state

// What a state begins with: its file, or zeros; sizes that are open are 1.
Result<InferTensor> first_state(const SequenceState& state, bool has_batch, const std::string& folder) {
  std::vector<int64_t> shape = state.initial_dims.empty() ? state.dims : state.initial_dims;
  for (int64_t& size : shape)
    if (size == -1) size = 1;
  const int64_t elements = element_count(shape);
  const int64_t width = state.type == InferType::kBytes ? 4 : infer_type_info(state.type).bytes;
  if (state.input.empty() || state.output.empty() || width == 0)
    return invalid_argument("a state needs input_name, output_name, data_type and dims; one is missing");
  if (elements < 0 || elements > kMostBytes / width || !shape_fits(state.dims, shape))
    return invalid_argument("the state begins with the dims {}, but its own are {}", shape_text(shape),
                            shape_text(state.dims));
  std::string bytes(static_cast<size_t>(elements * width), '\0');
  if (!state.initial_file.empty()) {
    if (state.initial_file.find("..") != std::string::npos || state.initial_file.starts_with('/'))
      return invalid_argument("the file '{}' would lie outside of the folder initial_state", state.initial_file);
    NEREID_TRY(std::string content, read_file(folder + "/initial_state/" + state.initial_file, kMostBytes));
    if (state.type == InferType::kBytes) {
      NEREID_RETURN_IF_ERROR(check_texts(state.input, "", std::as_bytes(std::span(content)), elements, ""));
    } else if (content.size() != bytes.size()) {
      return invalid_argument("the file '{}' has {} bytes, but the state of the shape {} begins with {}",
                              state.initial_file, content.size(), shape_text(shape), bytes.size());
    }
    bytes = std::move(content);
  }
  if (has_batch) shape.insert(shape.begin(), 1);
  return tensor_of(state.input, state.type, std::move(shape), std::move(bytes));
}

bool names(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

SequenceStates::SequenceStates(SequenceStates&& other) noexcept
    : rules_(std::move(other.rules_)), initial_(std::move(other.initial_)), states_(std::move(other.states_)) {}

Result<SequenceStates> SequenceStates::open(const ModelConfig& config, const std::string& folder) {
  SequenceStates out;
  for (const SequenceState& state : config.sequence_batching->states) {
    NEREID_TRY(InferTensor first, first_state(state, config.max_batch_size > 0, folder)
                                      .with(fmt::format("the state '{}' of model '{}'", state.input, config.name)));
    out.initial_.push_back(std::move(first));
    out.rules_.push_back({.input = state.input,
                          .output = state.output,
                          .is_output = std::any_of(config.outputs.begin(), config.outputs.end(),
                                                   [&](const auto& one) { return one.name == state.output; })});
  }
  return out;
}

std::vector<InferTensor> SequenceStates::inputs(const std::string& sequence, bool is_start) {
  if (rules_.empty()) return {};
  const std::lock_guard lock(mutex_);
  std::vector<InferTensor>& kept = states_[sequence];
  if (is_start || kept.empty()) kept = initial_;
  return kept;
}

void SequenceStates::take(const std::string& sequence, const std::vector<std::string>& wanted,
                          std::vector<InferTensor>* outputs) {
  if (rules_.empty()) return;
  const std::lock_guard lock(mutex_);
  const auto it = states_.find(sequence);
  for (size_t i = 0; i < rules_.size(); ++i) {
    const auto output = std::find_if(outputs->begin(), outputs->end(),
                                     [&](const InferTensor& one) { return one.name == rules_[i].output; });
    if (output == outputs->end()) continue;
    if (it != states_.end()) {  // else the sequence is over
      it->second[i] = *output;
      it->second[i].name = rules_[i].input;
    }
    if (!rules_[i].is_output || (!wanted.empty() && !names(wanted, rules_[i].output))) outputs->erase(output);
  }
}

void SequenceStates::drop(const std::string& sequence) {
  const std::lock_guard lock(mutex_);
  states_.erase(sequence);
}

std::vector<std::string> SequenceStates::outputs() const {
  std::vector<std::string> out;
  for (const Rule& rule : rules_) out.push_back(rule.output);
  return out;
}

size_t SequenceStates::living() const {
  const std::lock_guard lock(mutex_);
  return states_.size();
}

}  // namespace nereid::server
