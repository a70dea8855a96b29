// SPDX-License-Identifier: Apache-2.0
#include "api/context.h"

#include <thread>

#include "api/options.h"

namespace nereid::api {

Context::Turn::Turn(std::atomic<bool>& taken, bool waits)
    : taken_(taken), mine_(!taken.exchange(true, std::memory_order_acquire)) {
  while (waits && !mine_) {
    std::this_thread::yield();
    mine_ = !taken.exchange(true, std::memory_order_acquire);
  }
}

Status Context::Turn::status() const {
  if (mine_) return Status::ok();
  static const Status kTaken = unavailable(
      "another thread is using this context; a context is for one thread at a time: make one for each thread");
  return kTaken;
}

Context::Context(std::shared_ptr<const Engine> engine, int threads, size_t depth)
    : engine_(std::move(engine)),
      own_pool_(threads > 0 ? std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = threads, .pin = false})
                            : nullptr),
      net_(runtime::NetContext::create(engine_->opened.network, pool())),
      bindings_(engine_->inputs.size(), engine_->outputs.size()),
      outputs_(engine_->outputs.size()),
      queue_(depth,
             [this](const Bindings& bindings, const std::atomic<bool>& stop) { return run_with(bindings, &stop); }) {}

Result<std::unique_ptr<Context>> Context::create(const nereid_engine* engine, const nereid_context_options* given) {
  if (engine == nullptr) return invalid_argument("the engine's handle is NULL: it was not opened, or is closed");
  NEREID_TRY(const nereid_context_options options, read_options(given));
  NEREID_TRY(const int threads, read_threads(options.threads));
  constexpr int32_t kDepth = 64, kMostDepth = 65536;
  if (options.queue_depth < 0 || options.queue_depth > kMostDepth)
    return invalid_argument("queue_depth is {}; it is 0 ({}) or a number up to {}", options.queue_depth, kDepth,
                            kMostDepth);
  const auto depth = static_cast<size_t>(options.queue_depth == 0 ? kDepth : options.queue_depth);
  return std::unique_ptr<Context>(new Context(engine->engine, threads, depth));
}

Status Context::set_input(size_t index, const nereid_tensor* tensor) {
  const Turn turn = take(bindings_taken_);
  NEREID_RETURN_IF_ERROR(turn.status());
  const graph::Graph& g = engine_->opened.network->graph();
  if (index >= g.inputs().size())
    return invalid_argument("there is no input {}; the network has {}, counted from 0", index, g.inputs().size());
  if (tensor == nullptr) return invalid_argument("the tensor for input {} is NULL", index);
  return bindings_.set_input(g.value(g.inputs()[index]), index, *tensor);
}

Status Context::bind_output(size_t index, void* memory, size_t capacity) {
  const Turn turn = take(bindings_taken_);
  NEREID_RETURN_IF_ERROR(turn.status());
  if (index >= outputs_.size())
    return invalid_argument("there is no output {}; the network has {}, counted from 0", index, outputs_.size());
  const nereid_value_info& info = engine_->outputs[index];
  if (memory == nullptr && capacity > 0)
    return invalid_argument("the memory for the output '{}' is NULL, but is said to have {} bytes", info.name,
                            capacity);
  if (memory != nullptr && (info.kind != NEREID_TENSOR || info.dtype == NEREID_STRING))
    return unsupported(
        "the output '{}' is a {}, which cannot be bound to memory; look at it with "
        "nereid_context_output",
        info.name, info.kind != NEREID_TENSOR ? "value that is no tensor" : "tensor of texts");
  if (const auto dtype = dtype_from(info.dtype);
      memory != nullptr && dtype && reinterpret_cast<uintptr_t>(memory) % alignment_of(*dtype) != 0)
    return invalid_argument("the memory for the output '{}' is not at a multiple of {} bytes, as {} needs it",
                            info.name, alignment_of(*dtype), dtype_name(*dtype));
  bindings_.bind_output(index, {static_cast<std::byte*>(memory), capacity});
  return Status::ok();
}

Status Context::run_with(const Bindings& bindings, const std::atomic<bool>* stop) {
  NEREID_RETURN_IF_ERROR(bindings.apply(*net_));
  net_->set_stop(stop);
  has_run_ = true;
  if (own_pool_ != nullptr) return net_->run();
  const std::lock_guard turn(engine_->team->mutex);
  return net_->run();
}

Status Context::run() {
  const Turn state = take(state_taken_), bindings = take(bindings_taken_);
  NEREID_RETURN_IF_ERROR(state.status());
  NEREID_RETURN_IF_ERROR(bindings.status());
  if (!queue_.is_idle())
    return unavailable("asynchronous runs of this context have not ended; wait for them, or enqueue this one too");
  return run_with(bindings_, nullptr);
}

Result<uint64_t> Context::run_async(nereid_context* handle, nereid_done_fn done, void* user) {
  const Turn bindings = take(bindings_taken_);
  NEREID_RETURN_IF_ERROR(bindings.status());
  return queue_.push(bindings_, handle, done, user);
}

Status Context::check_settled() const {
  if (queue_.is_on_own_thread() || queue_.is_idle()) return Status::ok();
  return unavailable("asynchronous runs of this context have not ended; wait for them, or look from their callback");
}

Status Context::output(size_t index, nereid_tensor* tensor) {
  const Turn state = take(state_taken_);
  NEREID_RETURN_IF_ERROR(state.status());
  NEREID_RETURN_IF_ERROR(check_settled());
  if (index >= outputs_.size())
    return invalid_argument("there is no output {}; the network has {}, counted from 0", index, outputs_.size());
  if (tensor == nullptr) return invalid_argument("the place for output {} is NULL", index);
  const nereid_value_info& info = engine_->outputs[index];
  if (!has_run_) return unavailable("there is no output '{}' yet: nothing has run", info.name);
  const ops::TensorType& type = net_->output_type(index);
  if (info.kind != NEREID_TENSOR || !type.is_tensor())
    return unsupported("the output '{}' is {}; values that are no tensors cannot be read through this interface yet",
                       info.name, type.to_string());
  const void* data = net_->output_data(index);
  if (data == nullptr || !type.shape.is_static())
    return unavailable("there is no output '{}': the last run ended before it was there", info.name);
  Output& out = outputs_[index];
  out.dims.clear();
  for (const Dim& d : type.shape.dims()) out.dims.push_back(d.size());
  *tensor = {.data = data, .dtype = dtype_to(type.dtype), .rank = type.shape.rank(), .dims = out.dims.data()};
  if (type.dtype != DType::string) return Status::ok();
  out.texts.clear();
  for (const std::string& text :
       std::span(static_cast<const std::string*>(data), static_cast<size_t>(*type.shape.elements())))
    out.texts.push_back({text.data(), text.size()});
  tensor->data = out.texts.data();
  return Status::ok();
}

Status Context::set_profiling(bool on) {
  const Turn state = take(state_taken_);
  NEREID_RETURN_IF_ERROR(state.status());
  NEREID_RETURN_IF_ERROR(check_settled());
  net_->set_profiling(on);
  return Status::ok();
}

Status Context::profile(nereid_layer_fn layer, void* user) {
  if (layer == nullptr) return invalid_argument("the function for the layers is NULL");
  const Turn state = take(state_taken_);
  NEREID_RETURN_IF_ERROR(state.status());
  NEREID_RETURN_IF_ERROR(check_settled());
  for (const runtime::NetProfile& step : net_->profile()) {
    const nereid_layer_time time = {step.label.c_str(), step.kernel.c_str(), step.total_ns};
    layer(user, &time);
  }
  return Status::ok();
}

Status Context::notes(nereid_text_fn note, void* user) {
  if (note == nullptr) return invalid_argument("the function for the notes is NULL");
  const Turn state = take(state_taken_);
  NEREID_RETURN_IF_ERROR(state.status());
  NEREID_RETURN_IF_ERROR(check_settled());
  for (const std::string& text : net_->notes()) note(user, text.c_str());
  return Status::ok();
}

Status Context::memory(int64_t* bytes) {
  if (bytes == nullptr) return invalid_argument("the place for the bytes is NULL");
  const Turn state = take(state_taken_);
  NEREID_RETURN_IF_ERROR(state.status());
  NEREID_RETURN_IF_ERROR(check_settled());
  *bytes = net_->memory_bytes();
  return Status::ok();
}

}  // namespace nereid::api
