// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/known_tensors.h"

#include <span>

namespace nereid::server {
namespace {

struct KnownTensor {
  std::string_view name;
  InferType type;
  int64_t size;  // -1: any
  bool is_optional;
};

using enum InferType;
constexpr KnownTensor kTextInputs[] = {
    {"text_input", kBytes, -1, false},
    {"max_tokens", kInt32, 1, true},
    {"stream", kBool, 1, true},
    {"sampling_parameters", kBytes, 1, true},
    {"exclude_input_in_output", kBool, 1, true},
    {"stop_words", kBytes, -1, true},
    {"bad_words", kBytes, -1, true},
    {"end_id", kInt32, 1, true},
    {"pad_id", kInt32, 1, true},
    {"temperature", kFp32, 1, true},
    {"top_k", kInt32, 1, true},
    {"top_p", kFp32, 1, true},
    {"min_p", kFp32, 1, true},
    {"random_seed", kUint64, 1, true},
    {"seed", kUint64, 1, true},
    {"min_tokens", kInt32, 1, true},
    {"repetition_penalty", kFp32, 1, true},
    {"presence_penalty", kFp32, 1, true},
    {"frequency_penalty", kFp32, 1, true},
    {"length_penalty", kFp32, 1, true},
    {"beam_width", kInt32, 1, true},
    {"num_return_sequences", kInt32, 1, true},
    {"embedding_bias_words", kBytes, -1, true},
    {"embedding_bias_weights", kFp32, -1, true},
    {"guided_decoding_guide_type", kBytes, 1, true},
    {"guided_decoding_guide", kBytes, 1, true},
    {"lora_name", kBytes, 1, true},
    {"return_log_probs", kBool, 1, true},
    {"return_finish_reason", kBool, 1, true},
    {"return_num_input_tokens", kBool, 1, true},
    {"return_num_output_tokens", kBool, 1, true},
    {"return_perf_metrics", kBool, 1, true},
};
constexpr KnownTensor kVllmInputs[] = {
    {"text_input", kBytes, 1, false},
    {"image", kBytes, -1, true},
    {"stream", kBool, 1, true},
    {"sampling_parameters", kBytes, 1, true},
    {"exclude_input_in_output", kBool, 1, true},
    {"return_finish_reason", kBool, 1, true},
    {"return_cumulative_logprob", kBool, 1, true},
    {"return_logprobs", kBool, 1, true},
    {"return_num_input_tokens", kBool, 1, true},
    {"return_num_output_tokens", kBool, 1, true},
    {"embedding_request", kBytes, 1, true},
};
constexpr KnownTensor kTokenInputs[] = {
    {"input_ids", kInt32, -1, false},
    {"input_lengths", kInt32, 1, true},
    {"request_output_len", kInt32, 1, true},
    {"end_id", kInt32, 1, true},
    {"pad_id", kInt32, 1, true},
    {"stop_words_list", kInt32, -2, true},
    {"bad_words_list", kInt32, -2, true},
    {"embedding_bias", kFp32, -1, true},
    {"beam_width", kInt32, 1, true},
    {"num_return_sequences", kInt32, 1, true},
    {"temperature", kFp32, 1, true},
    {"runtime_top_k", kInt32, 1, true},
    {"runtime_top_p", kFp32, 1, true},
    {"len_penalty", kFp32, 1, true},
    {"early_stopping", kBool, 1, true},
    {"repetition_penalty", kFp32, 1, true},
    {"presence_penalty", kFp32, 1, true},
    {"frequency_penalty", kFp32, 1, true},
    {"min_tokens", kInt32, 1, true},
    {"seed", kUint64, 1, true},
    {"random_seed", kUint64, 1, true},
    {"return_log_probs", kBool, 1, true},
    {"return_num_input_tokens", kBool, 1, true},
    {"return_num_output_tokens", kBool, 1, true},
    {"return_perf_metrics", kBool, 1, true},
    {"exclude_input_in_output", kBool, 1, true},
    {"guided_decoding_guide_type", kBytes, 1, true},
    {"guided_decoding_guide", kBytes, 1, true},
    {"lora_name", kBytes, 1, true},
    {"stop", kBool, 1, true},
    {"streaming", kBool, 1, true},
};

constexpr KnownTensor kTextOutputs[] = {
    {"text_output", kBytes, -1, false},       {"cum_log_probs", kFp32, -1, false},
    {"output_log_probs", kFp32, -2, false},   {"batch_index", kInt32, 1, false},
    {"sequence_index", kInt32, 1, false},     {"finish_reason", kBytes, -1, false},
    {"num_input_tokens", kInt32, 1, false},   {"num_output_tokens", kInt32, 1, false},
    {"arrival_time_ns", kInt64, 1, false},    {"first_token_time_ns", kInt64, 1, false},
    {"last_token_time_ns", kInt64, 1, false},
};
constexpr KnownTensor kVllmOutputs[] = {
    {"text_output", kBytes, -1, false},       {"finish_reason", kBytes, -1, false},
    {"cumulative_logprob", kFp32, -1, false}, {"logprobs", kBytes, -1, false},
    {"num_input_tokens", kUint32, 1, false},  {"num_output_tokens", kUint32, -1, false},
};
constexpr KnownTensor kTokenOutputs[] = {
    {"output_ids", kInt32, -2, false},        {"sequence_length", kInt32, -1, false},
    {"cum_log_probs", kFp32, -1, false},      {"output_log_probs", kFp32, -2, false},
    {"batch_index", kInt32, 1, false},        {"sequence_index", kInt32, 1, false},
    {"num_input_tokens", kInt32, 1, false},   {"num_output_tokens", kInt32, 1, false},
    {"arrival_time_ns", kInt64, 1, false},    {"first_token_time_ns", kInt64, 1, false},
    {"last_token_time_ns", kInt64, 1, false},
};

std::vector<TensorConfig> tensors_of(std::span<const KnownTensor> rows) {
  std::vector<TensorConfig> out;
  for (const KnownTensor& row : rows) {
    std::vector<int64_t> dims = {row.size};
    if (row.size == -2) dims = {-1, -1};
    out.push_back({.name = std::string(row.name),
                   .type = row.type,
                   .dims = std::move(dims),
                   .reshape = {},
                   .is_optional = row.is_optional,
                   .label_file = {}});
  }
  return out;
}

}  // namespace

ConfigCompletion known_tensors(AskStyle style, AskForm form) {
  ConfigCompletion found;
  const bool is_vllm = style == AskStyle::kVllm;
  if (form == AskForm::kTokens) {
    found.inputs = tensors_of(kTokenInputs);
    found.outputs = tensors_of(kTokenOutputs);
  } else {
    found.inputs = is_vllm ? tensors_of(kVllmInputs) : tensors_of(kTextInputs);
    found.outputs = is_vllm ? tensors_of(kVllmOutputs) : tensors_of(kTextOutputs);
  }
  found.is_decoupled = true;
  return found;
}

}  // namespace nereid::server
