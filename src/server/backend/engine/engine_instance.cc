// SPDX-License-Identifier: Apache-2.0
#include "server/backend/engine/engine_instance.h"

#include <cstring>

#include "base/clock.h"
#include "server/backend/engine/tensor_types.h"
#include "server/core/batch_inputs.h"

namespace nereid::server {
namespace {

using Batch = std::span<const std::shared_ptr<Execution>>;

// The texts of a tensor that was checked (infer_check.h).
void append_texts(std::span<const std::byte> bytes, std::vector<std::string>* texts) {
  for (size_t at = 0; at + 4 <= bytes.size();) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    texts->emplace_back(reinterpret_cast<const char*>(bytes.data()) + at + 4, length);
    at += 4 + size_t{length};
  }
}

std::string text_bytes(std::span<const std::string> texts) {
  std::string out;
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
  }
  return out;
}

}  // namespace

EngineInstance::EngineInstance(const ModelConfig& config, const std::vector<TensorConfig>& inputs,
                               const std::vector<TensorConfig>& outputs, const compile::OpenedNetwork& network,
                               int threads)
    : config_(config),
      has_batch_(config.max_batch_size > 0),
      pool_(std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = threads, .pin = false})),
      context_(runtime::NetContext::create(network.network, *pool_)) {
  for (size_t i = 0; i < network.inputs.size(); ++i)
    for (const TensorConfig& one : inputs)
      if (one.name == network.inputs[i].name) {
        Input& input = inputs_.emplace_back();
        input.index = i, input.config = &one;
        for (const BatchInput& rule : config.batch_inputs)
          for (size_t target = 0; target < rule.targets.size(); ++target)
            if (rule.targets[target] == one.name) input.rule = &rule, input.target = target;
      }
  for (const TensorConfig& one : outputs)
    for (size_t i = 0; i < network.outputs.size(); ++i)
      if (one.name == network.outputs[i].name) {
        Output& output = outputs_.emplace_back();
        output.index = i, output.config = &one;
        for (const BatchOutput& rule : config.batch_outputs)
          for (const std::string& target : rule.targets)
            if (target == one.name) output.source = &rule.source;
      }
}

Result<const void*> EngineInstance::join(Input& input, Batch batch, size_t width) {
  const std::span<const std::byte> first = batch[0]->input(input.config->name)->bytes;
  if (batch.size() == 1 && reinterpret_cast<uintptr_t>(first.data()) % width == 0) return first.data();
  size_t bytes = 0;
  for (const auto& one : batch) bytes += one->input(input.config->name)->bytes.size();
  if (input.joined.size() < bytes) {
    NEREID_TRY(input.joined, Buffer::allocate(bytes));
  }
  size_t at = 0;
  for (const auto& one : batch) {
    const std::span<const std::byte> part = one->input(input.config->name)->bytes;
    if (!part.empty()) std::memcpy(input.joined.data() + at, part.data(), part.size());
    at += part.size();
  }
  return input.joined.data();
}

Status EngineInstance::tell(Input& input, Batch batch) {
  std::vector<const InferTensor*> sources;
  for (const auto& one : batch) sources.push_back(one->input(input.rule->source));
  NEREID_TRY(std::vector<InferTensor> told, batch_inputs(*input.rule, sources, has_batch_));
  input.told = std::move(told[input.target]);
  return context_->set_input(input.index,
                             ConstTensorView(input.told.bytes.data(), *dtype_of(input.told.type), input.told.shape));
}

Status EngineInstance::set_input(Input& input, Batch batch, int64_t items) {
  if (input.rule != nullptr) return tell(input, batch);
  const InferTensor* first = batch[0]->input(input.config->name);
  if (first == nullptr) return Status::ok();  // optional: the network has a value of its own
  std::vector<int64_t> dims(first->shape.begin() + (has_batch_ ? 1 : 0), first->shape.end());
  if (input.config->reshape) {
    const auto other = reshaped(input.config->dims, *input.config->reshape, dims);
    if (!other) return invalid_argument("the input '{}' cannot be reshaped as the configuration says", first->name);
    dims = *other;
  }
  if (has_batch_) dims.insert(dims.begin(), items);
  if (input.config->is_ragged) {  // end to end, without the batch dimension
    int64_t elements = 0;
    for (const auto& one : batch) elements += element_count(one->input(input.config->name)->shape);
    dims = {elements};
  }
  const std::optional<DType> dtype = dtype_of(first->type);
  if (!dtype)
    return unsupported("the input '{}' is {}, which no network takes", first->name, infer_type_name(first->type));
  if (*dtype == DType::string) {
    input.texts.clear();
    for (const auto& one : batch) append_texts(one->input(input.config->name)->bytes, &input.texts);
    return context_->set_input(input.index, ConstTensorView(input.texts.data(), *dtype, std::move(dims)));
  }
  NEREID_TRY(const void* data, join(input, batch, infer_type_info(first->type).bytes));
  return context_->set_input(input.index, ConstTensorView(data, *dtype, std::move(dims)));
}

Status EngineInstance::scatter(const Output& output, Batch batch, std::vector<InferResponse>* responses) {
  const ConstTensorView view = context_->output(output.index);
  const std::string& name = output.config->name;
  const InferType type = infer_type_of(view.dtype);
  const size_t width = infer_type_info(type).bytes;
  if (view.data == nullptr || width == 0)
    return internal("the output '{}' is no tensor of numbers, which alone can be cut up by the sizes of an input",
                    name);
  const int64_t total = element_count(view.sizes);
  int64_t first = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const InferTensor* source = batch[i]->input(*output.source);
    const int64_t count = source == nullptr ? 0 : element_count(source->shape);
    if (count > total - first)
      return internal("the output '{}' has {} elements, fewer than the requests' input '{}'", name, total,
                      *output.source);
    const auto* bytes = static_cast<const char*>(view.data) + static_cast<size_t>(first) * width;
    first += count;
    if (source != nullptr && batch[i]->wants(name))
      (*responses)[i].outputs.push_back(
          tensor_of(name, type, source->shape, std::string(bytes, static_cast<size_t>(count) * width)));
  }
  return Status::ok();
}

Status EngineInstance::cut(const Output& output, Batch batch, int64_t items, std::vector<InferResponse>* responses) {
  const ConstTensorView view = context_->output(output.index);
  const std::string& name = output.config->name;
  if (view.data == nullptr) return internal("the output '{}' is no tensor, which cannot be sent", name);
  const InferType type = infer_type_of(view.dtype);
  if (type != output.config->type)
    return internal("the output '{}' is {}, but the configuration says {}", name, dtype_name(view.dtype),
                    infer_type_name(output.config->type));
  if (has_batch_ && (view.sizes.empty() || view.sizes[0] != items))
    return internal("the output '{}' has the shape {} for a batch of {}, whose first size should be that", name,
                    shape_text(view.sizes), items);
  std::vector<int64_t> dims(view.sizes.begin() + (has_batch_ ? 1 : 0), view.sizes.end());
  const int64_t item_elements = element_count(dims);
  if (output.config->reshape)
    if (const auto other = reshaped(*output.config->reshape, output.config->dims, dims)) dims = *other;
  int64_t first = 0;  // item
  for (size_t i = 0; i < batch.size(); ++i) {
    const int64_t count = has_batch_ ? batch[i]->batch() : 1;
    const auto begin = static_cast<size_t>(first * item_elements), size = static_cast<size_t>(count * item_elements);
    first += count;
    if (!batch[i]->wants(name)) continue;
    std::vector<int64_t> shape = dims;
    if (has_batch_) shape.insert(shape.begin(), count);
    if (type == InferType::kBytes) {
      const std::span texts(static_cast<const std::string*>(view.data) + begin, size);
      (*responses)[i].outputs.push_back(tensor_of(name, type, std::move(shape), text_bytes(texts)));
      continue;
    }
    const size_t width = infer_type_info(type).bytes;
    const auto* bytes = static_cast<const char*>(view.data) + begin * width;
    (*responses)[i].outputs.push_back(tensor_of(name, type, std::move(shape), std::string(bytes, size * width)));
  }
  return Status::ok();
}

Status EngineInstance::answer(Batch batch, int64_t items, std::vector<InferResponse>* responses) {
  for (const Output& output : outputs_)
    NEREID_RETURN_IF_ERROR(output.source != nullptr ? scatter(output, batch, responses)
                                                    : cut(output, batch, items, responses));
  return Status::ok();
}

ExecutionTimes EngineInstance::execute(Batch batch) {
  int64_t items = 0;
  for (const auto& one : batch) items += one->batch();
  Status status;
  for (Input& input : inputs_)
    if (status.is_ok()) status = set_input(input, batch, items);
  ExecutionTimes times{.input_end_ns = now_ns(), .infer_end_ns = 0};
  if (status.is_ok()) status = context_->run();
  times.infer_end_ns = now_ns();
  std::vector<InferResponse> responses(batch.size());
  if (status.is_ok()) status = answer(batch, items, &responses);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!status.is_ok()) responses[i] = {.status = status, .outputs = {}, .parameters = {}};
    batch[i]->send(std::move(responses[i]));
  }
  return times;
}

}  // namespace nereid::server
