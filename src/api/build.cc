// SPDX-License-Identifier: Apache-2.0
// nereid_build, nereid_engine_refit, nereid_engine_strip: engine files from ONNX files.
#include "api/answer.h"
#include "api/options.h"
#include "compile/network_engine.h"
#include "compile/network_refit.h"

namespace nereid::api {
namespace {

// One build: the caller's options in our terms, and whether the caller has asked to stop.
class Build {
 public:
  // `shapes` and the like count only where an ONNX file is read with them.
  Status read(const nereid_build_options* given) {
    NEREID_TRY(options_, read_options(given));
    NEREID_RETURN_IF_ERROR(check_device(options_.device));
    NEREID_TRY(threads_, read_threads(options_.threads));
    NEREID_TRY(network.precision, read_precision(options_.precision));
    NEREID_RETURN_IF_ERROR(read_shapes(options_.shapes, options_.shape_count, network));
    network.strip_weights = options_.strip != 0;
    network.stop = [this] { return stopped_; };
    return Status::ok();
  }
  int threads() const { return threads_; }
  compile::BuildProgress progress() {
    return [this](std::string_view stage, int64_t done, int64_t total) {
      if (options_.progress == nullptr || stopped_) return;
      const std::string text(stage);
      stopped_ = options_.progress(options_.progress_user, text.c_str(), done, total) != 0;
    };
  }
  Status told(const Result<compile::NetworkBuild>& built) const {
    if (!built.is_ok()) return built.status();
    if (options_.log == nullptr) return Status::ok();
    for (const auto* lines : {&built->opened.warnings, &built->notes})
      for (const std::string& line : *lines) options_.log(options_.log_user, NEREID_LOG_WARNING, line.c_str());
    return Status::ok();
  }

  compile::NetworkOptions network;

 private:
  nereid_build_options options_{};
  int threads_ = 0;
  bool stopped_ = false;
};

Status need(const char* text, std::string_view what) {
  return text == nullptr ? invalid_argument("the path of {} is NULL", what) : Status::ok();
}

}  // namespace
}  // namespace nereid::api

extern "C" {

nereid_status nereid_build(const char* onnx_path, const char* engine_path, const nereid_build_options* options) {
  return nereid::api::answer([&]() -> nereid::Status {
    NEREID_RETURN_IF_ERROR(nereid::api::need(onnx_path, "the ONNX file"));
    NEREID_RETURN_IF_ERROR(nereid::api::need(engine_path, "the engine"));
    nereid::api::Build build;
    NEREID_RETURN_IF_ERROR(build.read(options));
    nereid::ThreadPool pool({.threads = build.threads(), .pin = false});
    return build.told(nereid::compile::build_network(onnx_path, engine_path, build.network, pool, build.progress()));
  });
}

nereid_status nereid_build_from_memory(const void* onnx, size_t size, const char* folder, const char* engine_path,
                                       const nereid_build_options* options) {
  return nereid::api::answer([&]() -> nereid::Status {
    if (onnx == nullptr) return nereid::invalid_argument("the bytes of the ONNX file are NULL");
    NEREID_RETURN_IF_ERROR(nereid::api::need(engine_path, "the engine"));
    nereid::api::Build build;
    NEREID_RETURN_IF_ERROR(build.read(options));
    nereid::ThreadPool pool({.threads = build.threads(), .pin = false});
    const nereid::compile::BuildProgress progress = build.progress();
    progress("reading and optimising", 0, 0);
    NEREID_TRY(nereid::compile::OpenedNetwork opened,
               nereid::compile::open_network_bytes({static_cast<const char*>(onnx), size},
                                                   folder == nullptr ? "" : folder, build.network));
    return build.told(
        nereid::compile::write_network(std::move(opened), "memory", engine_path, build.network, pool, progress));
  });
}

nereid_status nereid_engine_refit(const char* engine_path, const char* onnx_path, const char* result_path,
                                  const nereid_build_options* options) {
  return nereid::api::answer([&]() -> nereid::Status {
    NEREID_RETURN_IF_ERROR(nereid::api::need(engine_path, "the engine"));
    NEREID_RETURN_IF_ERROR(nereid::api::need(onnx_path, "the ONNX file"));
    NEREID_RETURN_IF_ERROR(nereid::api::need(result_path, "the result"));
    nereid::api::Build build;
    NEREID_RETURN_IF_ERROR(build.read(options));
    nereid::ThreadPool pool({.threads = build.threads(), .pin = false});
    return build.told(
        nereid::compile::refit_network(engine_path, onnx_path, result_path, build.network, pool, build.progress()));
  });
}

nereid_status nereid_engine_strip(const char* engine_path, const char* result_path) {
  return nereid::api::answer([&]() -> nereid::Status {
    NEREID_RETURN_IF_ERROR(nereid::api::need(engine_path, "the engine"));
    NEREID_RETURN_IF_ERROR(nereid::api::need(result_path, "the result"));
    return nereid::compile::strip_network(engine_path, result_path);
  });
}

}  // extern "C"
