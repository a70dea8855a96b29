// SPDX-License-Identifier: Apache-2.0
// nereid_context_*: the C functions over Context.
#include "api/answer.h"
#include "api/context.h"

namespace nereid::api {
namespace {

Status no_context() {
  return invalid_argument("the context's handle is NULL: it was not created, or is closed");
}

// What `body` says of the context behind the handle.
template <typename F>
nereid_status with(nereid_context* handle, F&& body) {
  return answer([&]() -> Status { return handle == nullptr ? no_context() : body(*handle->context); });
}

}  // namespace
}  // namespace nereid::api

using nereid::Status;
using nereid::api::answer;
using nereid::api::Context;
using nereid::api::with;

extern "C" {

nereid_status nereid_context_create(nereid_engine* engine, const nereid_context_options* options,
                                    nereid_context** context) {
  return answer([&]() -> Status {
    if (context == nullptr) return nereid::invalid_argument("the place for the context's handle is NULL");
    *context = nullptr;
    NEREID_TRY(std::unique_ptr<Context> made, Context::create(engine, options));
    *context = new nereid_context{std::move(made)};
    return Status::ok();
  });
}

nereid_status nereid_context_close(nereid_context** context) {
  return answer([&]() -> Status {
    if (context == nullptr) return nereid::invalid_argument("the address of the context's handle is NULL");
    if (*context != nullptr && (*context)->context->queue().is_on_own_thread())
      return nereid::invalid_argument("a callback cannot close its own context, whose runs have not ended");
    delete std::exchange(*context, nullptr);
    return Status::ok();
  });
}

nereid_status nereid_context_set_input(nereid_context* context, size_t index, const nereid_tensor* tensor) {
  return with(context, [&](Context& c) { return c.set_input(index, tensor); });
}

nereid_status nereid_context_bind_output(nereid_context* context, size_t index, void* memory, size_t capacity) {
  return with(context, [&](Context& c) { return c.bind_output(index, memory, capacity); });
}

nereid_status nereid_context_run(nereid_context* context) {
  return with(context, [&](Context& c) { return c.run(); });
}

nereid_status nereid_context_output(nereid_context* context, size_t index, nereid_tensor* tensor) {
  return with(context, [&](Context& c) { return c.output(index, tensor); });
}

nereid_status nereid_context_run_async(nereid_context* context, nereid_done_fn done, void* user, nereid_run_id* id) {
  return with(context, [&](Context& c) -> Status {
    NEREID_TRY(const uint64_t number, c.run_async(context, done, user));
    if (id != nullptr) *id = number;
    return Status::ok();
  });
}

nereid_status nereid_context_wait(nereid_context* context, nereid_run_id id, int64_t timeout_ms) {
  return with(context, [&](Context& c) { return c.queue().wait(id, timeout_ms); });
}

nereid_status nereid_context_poll(nereid_context* context, nereid_run_id id) {
  return with(context, [&](Context& c) { return c.queue().poll(id); });
}

nereid_status nereid_context_cancel(nereid_context* context, nereid_run_id id) {
  return with(context, [&](Context& c) { return c.queue().cancel(id); });
}

nereid_status nereid_context_set_profiling(nereid_context* context, int32_t on) {
  return with(context, [&](Context& c) { return c.set_profiling(on != 0); });
}

nereid_status nereid_context_profile(nereid_context* context, nereid_layer_fn layer, void* user) {
  return with(context, [&](Context& c) { return c.profile(layer, user); });
}

nereid_status nereid_context_notes(nereid_context* context, nereid_text_fn note, void* user) {
  return with(context, [&](Context& c) { return c.notes(note, user); });
}

nereid_status nereid_context_memory(nereid_context* context, int64_t* bytes) {
  return with(context, [&](Context& c) { return c.memory(bytes); });
}

nereid_status nereid_context_threads(nereid_context* context, int32_t* threads) {
  return with(context, [&](Context& c) -> Status {
    if (threads == nullptr) return nereid::invalid_argument("the place for the number of threads is NULL");
    *threads = c.threads();
    return Status::ok();
  });
}

}  // extern "C"
