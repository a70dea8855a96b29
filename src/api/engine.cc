// SPDX-License-Identifier: Apache-2.0
// nereid_engine_*: opening, and what an engine says of itself.
#include "api/engine.h"

#include "api/answer.h"
#include "api/options.h"
#include "base/buffer.h"
#include "base/mapped_file.h"
#include "compile/network_engine.h"

namespace nereid::api {
namespace {

struct Log {
  nereid_log_fn function;
  void* user;
  void warn(const std::vector<std::string>& lines) const {
    if (function == nullptr) return;
    for (const std::string& line : lines) function(user, NEREID_LOG_WARNING, line.c_str());
  }
};

// `read` gives the network, with a team to work on.
Status open(const nereid_open_options* given, nereid_engine** out,
            FunctionRef<Result<compile::OpenedNetwork>(const compile::NetworkOptions&, ThreadPool&)> read) {
  if (out == nullptr) return invalid_argument("the place for the engine's handle is NULL");
  *out = nullptr;
  NEREID_TRY(const nereid_open_options options, read_options(given));
  NEREID_RETURN_IF_ERROR(check_device(options.device));
  NEREID_TRY(const int threads, read_threads(options.threads));
  compile::NetworkOptions network;
  NEREID_TRY(network.precision, read_precision(options.precision));
  network.frees_weights = true;
  NEREID_RETURN_IF_ERROR(read_shapes(options.shapes, options.shape_count, network));
  auto engine = std::make_shared<Engine>();
  engine->team = std::make_unique<Team>(threads);
  NEREID_TRY(engine->opened, read(network, engine->team->pool));
  for (const compile::NamedType& in : engine->opened.inputs) engine->inputs.add(in);
  for (const compile::NamedType& o : engine->opened.outputs) engine->outputs.add(o);
  Log{options.log, options.log_user}.warn(engine->opened.warnings);
  *out = new nereid_engine{std::move(engine)};
  return Status::ok();
}

Result<compile::OpenedNetwork> open_engine_bytes(std::span<const std::byte> bytes,
                                                 const compile::NetworkOptions& options, ThreadPool& pool) {
  // A copy at an address that suits kernels, whatever the caller's is.
  auto memory = std::make_shared<Buffer>();
  NEREID_TRY(*memory, Buffer::allocate(bytes.size()));
  std::ranges::copy(bytes, memory->data());
  const std::span<const std::byte> copy(memory->data(), bytes.size());
  NEREID_TRY(engine::EngineFile file, engine::EngineFile::parse(copy, "the engine in memory"));
  return compile::load_network(std::move(file), options, pool, std::move(memory));
}

Result<const Engine*> engine_of(const nereid_engine* engine) {
  if (engine == nullptr) return invalid_argument("the engine's handle is NULL: it was not opened, or is closed");
  return engine->engine.get();
}

nereid_status info_of(const nereid_engine* handle, size_t index, nereid_value_info* info, std::string_view what,
                      ValueInfos Engine::*infos) {
  return answer([&]() -> Status {
    NEREID_TRY(const Engine* engine, engine_of(handle));
    if (info == nullptr) return invalid_argument("the place for the {}'s declaration is NULL", what);
    const ValueInfos& all = engine->*infos;
    if (index >= all.size())
      return invalid_argument("there is no {} {}; the network has {}, counted from 0", what, index, all.size());
    *info = all[index];
    return Status::ok();
  });
}

nereid_status find_in(const nereid_engine* handle, const char* name, size_t* index, std::string_view what,
                      ValueInfos Engine::*infos) {
  return answer([&]() -> Status {
    NEREID_TRY(const Engine* engine, engine_of(handle));
    if (name == nullptr || index == nullptr) return invalid_argument("the name or the place for the index is NULL");
    NEREID_TRY(*index, (engine->*infos).find(what, name));
    return Status::ok();
  });
}

}  // namespace
}  // namespace nereid::api

using nereid::api::Engine;

extern "C" {

nereid_status nereid_engine_open(const char* path, const nereid_open_options* options, nereid_engine** engine) {
  return nereid::api::answer([&]() -> nereid::Status {
    if (engine != nullptr) *engine = nullptr;
    if (path == nullptr) return nereid::invalid_argument("the path of the model is NULL");
    return nereid::api::open(options, engine,
                             [&](const nereid::compile::NetworkOptions& network, nereid::ThreadPool& pool) {
                               return nereid::compile::open_network(path, network, pool);
                             });
  });
}

nereid_status nereid_engine_open_from_memory(const void* bytes, size_t size, const char* folder,
                                             const nereid_open_options* options, nereid_engine** engine) {
  return nereid::api::answer([&]() -> nereid::Status {
    if (engine != nullptr) *engine = nullptr;
    if (bytes == nullptr) return nereid::invalid_argument("the bytes of the model are NULL");
    const std::span<const std::byte> given(static_cast<const std::byte*>(bytes), size);
    return nereid::api::open(options, engine,
                             [&](const nereid::compile::NetworkOptions& network, nereid::ThreadPool& pool) {
                               if (nereid::engine::EngineFile::has_magic(given))
                                 return nereid::api::open_engine_bytes(given, network, pool);
                               return nereid::compile::open_network_bytes({static_cast<const char*>(bytes), size},
                                                                          folder == nullptr ? "" : folder, network);
                             });
  });
}

nereid_status nereid_engine_close(nereid_engine** engine) {
  return nereid::api::answer([&]() -> nereid::Status {
    if (engine == nullptr) return nereid::invalid_argument("the address of the engine's handle is NULL");
    delete std::exchange(*engine, nullptr);
    return nereid::Status::ok();
  });
}

size_t nereid_engine_input_count(const nereid_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->inputs.size();
}

size_t nereid_engine_output_count(const nereid_engine* engine) {
  return engine == nullptr ? 0 : engine->engine->outputs.size();
}

nereid_status nereid_engine_input(const nereid_engine* engine, size_t index, nereid_value_info* info) {
  return nereid::api::info_of(engine, index, info, "input", &Engine::inputs);
}

nereid_status nereid_engine_output(const nereid_engine* engine, size_t index, nereid_value_info* info) {
  return nereid::api::info_of(engine, index, info, "output", &Engine::outputs);
}

nereid_status nereid_engine_find_input(const nereid_engine* engine, const char* name, size_t* index) {
  return nereid::api::find_in(engine, name, index, "input", &Engine::inputs);
}

nereid_status nereid_engine_find_output(const nereid_engine* engine, const char* name, size_t* index) {
  return nereid::api::find_in(engine, name, index, "output", &Engine::outputs);
}

nereid_status nereid_engine_memory(const nereid_engine* engine, int64_t* bytes) {
  return nereid::api::answer([&]() -> nereid::Status {
    NEREID_TRY(const Engine* ours, nereid::api::engine_of(engine));
    if (bytes == nullptr) return nereid::invalid_argument("the place for the bytes is NULL");
    *bytes = ours->opened.network->packed_bytes();
    return nereid::Status::ok();
  });
}

}  // extern "C"
