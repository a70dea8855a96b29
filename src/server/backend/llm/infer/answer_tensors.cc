// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/answer_tensors.h"

#include <algorithm>

#include "base/json.h"

namespace nereid::server {
namespace {

using Parts = std::vector<AnswerPart>;

// [prompts, choices] and what follows, without the first where the model takes no batches.
std::vector<int64_t> shape_of(const AnswerNeeds& n, std::vector<int64_t> inner) {
  if (n.config.max_batch_size > 0)
    inner.insert(inner.begin(), n.prompts);
  else if (!inner.empty())
    inner[0] *= n.prompts;
  return inner;
}

template <typename T>
InferTensor numbers(const TensorConfig& out, InferType type, std::vector<int64_t> shape, std::vector<T> values) {
  return tensor_of(out.name, type, std::move(shape), std::move(values));
}

// In the type that the configuration gives to a count or an index.
InferTensor integers(const TensorConfig& out, std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  switch (out.type) {
    case InferType::kUint32:
      return numbers(out, out.type, std::move(shape), std::vector<uint32_t>(values.begin(), values.end()));
    case InferType::kInt64:
    case InferType::kUint64:
      return numbers(out, out.type, std::move(shape), values);
    case InferType::kFp32:
      return numbers(out, out.type, std::move(shape), std::vector<float>(values.begin(), values.end()));
    default:
      return numbers(out, InferType::kInt32, std::move(shape), std::vector<int32_t>(values.begin(), values.end()));
  }
}

InferTensor texts(const TensorConfig& out, const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& one : values) {
    const auto length = static_cast<uint32_t>(one.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += one;
  }
  return tensor_of(out.name, InferType::kBytes, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

template <typename Of>
InferTensor texts_of(const TensorConfig& out, const Parts& parts, Of of) {
  std::vector<std::string> values;
  for (const AnswerPart& part : parts) values.push_back(of(part));
  return texts(out, values);
}

// A number for each prompt.
template <typename Of>
InferTensor one_a_prompt(const AnswerNeeds& n, const TensorConfig& out, const Parts& parts, Of of) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < parts.size(); i += static_cast<size_t>(n.choices)) values.push_back(of(parts[i]));
  return integers(out, shape_of(n, {1}), values);
}

// A number for each answer.
template <typename Of>
InferTensor one_an_answer(const AnswerNeeds& n, const TensorConfig& out, const Parts& parts, Of of) {
  std::vector<int64_t> values;
  for (const AnswerPart& part : parts) values.push_back(of(part));
  return integers(out, shape_of(n, {n.choices}), values);
}

int64_t longest(const Parts& parts) {
  size_t most = 0;
  for (const AnswerPart& part : parts) most = std::max(most, part.tokens.size());
  return static_cast<int64_t>(most);
}

InferTensor output_ids(const AnswerNeeds& n, const TensorConfig& out, const Parts& parts) {
  const int64_t length = longest(parts);
  std::vector<int32_t> ids;
  for (const AnswerPart& part : parts) {
    ids.insert(ids.end(), part.tokens.begin(), part.tokens.end());
    ids.insert(ids.end(), static_cast<size_t>(length) - part.tokens.size(), n.ask.pad);
  }
  return numbers(out, InferType::kInt32, shape_of(n, {n.choices, length}), std::move(ids));
}

InferTensor log_probs(const AnswerNeeds& n, const TensorConfig& out, const Parts& parts) {
  size_t length = 0;
  for (const AnswerPart& part : parts) length = std::max(length, part.samples.size());
  std::vector<float> values;
  for (const AnswerPart& part : parts) {
    for (const sample::SampleResult& one : part.samples) values.push_back(one.logprob);
    values.insert(values.end(), length - part.samples.size(), 0.0F);
  }
  return numbers(out, InferType::kFp32, shape_of(n, {n.choices, static_cast<int64_t>(length)}), std::move(values));
}

InferTensor cumulative(const AnswerNeeds& n, const TensorConfig& out, const Parts& parts) {
  std::vector<float> values;
  for (const AnswerPart& part : parts) values.push_back(static_cast<float>(part.cumulative));
  return numbers(out, InferType::kFp32, shape_of(n, {n.choices}), std::move(values));
}

// As vLLM's: for each token an object of the likeliest, by their numbers.
InferTensor logprobs_json(const AnswerNeeds& n, const TensorConfig& out, const Parts& parts) {
  return texts_of(out, parts, [&](const AnswerPart& part) {
    Json list = Json::array();
    for (const sample::SampleResult& one : part.samples) {
      Json entry = Json::object();
      const auto add = [&](int32_t token, float logprob, size_t rank) {
        entry[std::to_string(token)] = {
            {"logprob", logprob}, {"rank", rank}, {"decoded_token", n.model.token_text(token)}};
      };
      size_t rank = 0;
      for (const sample::TokenLogprob& top : one.top) add(top.token, top.logprob, ++rank);
      if (!entry.contains(std::to_string(one.token))) add(one.token, one.logprob, rank + 1);
      list.push_back(std::move(entry));
    }
    return list.dump(-1, ' ', false, Json::error_handler_t::replace);
  });
}

InferTensor zeros(const AnswerNeeds& n, const TensorConfig& out, const Parts&) {
  std::vector<int64_t> inner(std::max<size_t>(out.dims.size(), 1), 1);
  std::vector<int64_t> shape = shape_of(n, inner);
  const auto count = static_cast<size_t>(element_count(shape));
  if (out.type == InferType::kBytes) return texts(out, std::vector<std::string>(count));
  const size_t bytes = std::max<size_t>(infer_type_info(out.type).bytes, 1);
  return tensor_of(out.name, out.type, std::move(shape), std::string(count * bytes, '\0'));
}

using Make = InferTensor (*)(const AnswerNeeds&, const TensorConfig&, const Parts&);
using Due = bool (*)(const Ask&);

bool always(const Ask&) {
  return true;
}
bool never(const Ask&) {
  return false;
}

struct OutputRow {
  std::string_view name;
  Due is_due;
  Make make;
};

constexpr OutputRow kOutputs[] = {
    {"text_output", always,
     [](const AnswerNeeds&, const TensorConfig& o, const Parts& p) {
       return texts_of(o, p, [](const AnswerPart& one) { return one.text; });
     }},
    {"output_ids", always, output_ids},
    {"sequence_length", always,
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_an_answer(n, o, p, [](const AnswerPart& one) { return static_cast<int64_t>(one.tokens.size()); });
     }},
    {"cum_log_probs", [](const Ask& a) { return a.wants_logprobs; }, cumulative},
    {"output_log_probs", [](const Ask& a) { return a.wants_logprobs; }, log_probs},
    {"cumulative_logprob", [](const Ask& a) { return a.wants_cumulative; },
     [](const AnswerNeeds&, const TensorConfig& o, const Parts& p) {
       std::vector<float> values;
       for (const AnswerPart& part : p) values.push_back(static_cast<float>(part.cumulative));
       const auto count = static_cast<int64_t>(values.size());
       return numbers(o, InferType::kFp32, {count}, std::move(values));
     }},
    {"logprobs", [](const Ask& a) { return a.wants_token_logprobs; }, logprobs_json},
    {"batch_index", always,
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [](const AnswerPart& one) -> int64_t { return one.prompt; });
     }},
    {"sequence_index", always,
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [](const AnswerPart& one) -> int64_t { return one.choice; });
     }},
    {"finish_reason", [](const Ask& a) { return a.wants_finish; },
     [](const AnswerNeeds&, const TensorConfig& o, const Parts& p) {
       return texts_of(o, p, [](const AnswerPart& one) { return one.finish ? std::string(one.finish) : "None"; });
     }},
    {"num_input_tokens", [](const Ask& a) { return a.wants_input_count; },
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [](const AnswerPart& one) { return one.prompt_tokens; });
     }},
    {"num_output_tokens", [](const Ask& a) { return a.wants_output_count; },
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_an_answer(n, o, p, [](const AnswerPart& one) { return static_cast<int64_t>(one.samples.size()); });
     }},
    {"kv_cache_reused_blocks", [](const Ask& a) { return a.wants_times; },
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [](const AnswerPart& one) { return one.reused_tokens / 16; });
     }},
    {"arrival_time_ns", [](const Ask& a) { return a.wants_times; },
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [&](const AnswerPart&) { return n.arrival_ns; });
     }},
    {"first_token_time_ns", [](const Ask& a) { return a.wants_times; },
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [](const AnswerPart& one) { return one.first_token_ns; });
     }},
    {"last_token_time_ns", [](const Ask& a) { return a.wants_times; },
     [](const AnswerNeeds& n, const TensorConfig& o, const Parts& p) {
       return one_a_prompt(n, o, p, [](const AnswerPart& one) { return one.last_token_ns; });
     }},
    // What TensorRT-LLM's repositories name besides; ensembles ask for all of it.
    {"context_logits", never, zeros},
    {"generation_logits", never, zeros},
    {"context_phase_params", never, zeros},
    {"kv_cache_alloc_new_blocks", never, zeros},
    {"kv_cache_alloc_total_blocks", never, zeros},
    {"first_scheduled_time_ns", never, zeros},
    {"acceptance_rate", never, zeros},
    {"total_accepted_draft_tokens", never, zeros},
    {"total_draft_tokens", never, zeros},
    {"stop_reason", never, zeros},
};

const OutputRow* find_row(std::string_view name) {
  for (const OutputRow& row : kOutputs)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

std::vector<InferTensor> answer_tensors(const AnswerNeeds& needs, const std::vector<AnswerPart>& parts) {
  std::vector<InferTensor> tensors;
  for (const TensorConfig& out : needs.config.outputs) {
    const OutputRow* row = find_row(out.name);
    if (row == nullptr) continue;
    const bool is_named = std::find(needs.outputs.begin(), needs.outputs.end(), out.name) != needs.outputs.end();
    if (is_named || (needs.outputs.empty() && row->is_due(needs.ask))) tensors.push_back(row->make(needs, out, parts));
  }
  return tensors;
}

bool is_answer(std::string_view name) {
  return find_row(name) != nullptr;
}

}  // namespace nereid::server
