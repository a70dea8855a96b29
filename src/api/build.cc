// SPDX-License-Identifier: Apache-2.0
// nereid_build, nereid_engine_refit, nereid_engine_strip: engine files from ONNX files.
#include <filesystem>

#include "api/answer.h"
#include "api/options.h"
#include "compile/mixed_build.h"
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
    mixed_.int8 = options_.precision != nullptr && std::string_view(options_.precision) == "int8";
    if (!mixed_.int8) {
      NEREID_TRY(network.precision, read_precision(options_.precision));
    }
    if (!(options_.accuracy >= 0)) return invalid_argument("accuracy is {}; it is 0 or more", options_.accuracy);
    if (options_.accuracy > 0) mixed_.accuracy = options_.accuracy;
    if (options_.level < 0 || options_.level > 5) return invalid_argument("level is {}; it is 0 to 5", options_.level);
    network.level = options_.level;
    const auto text = [](const char* path) { return std::string(path == nullptr ? "" : path); };
    network.timing_cache = text(options_.timing_cache);
    mixed_.calib_folder = text(options_.calibration_folder);
    mixed_.calib_cache = text(options_.calibration_cache);
    if (!is_mixed() && !(mixed_.calib_folder + mixed_.calib_cache).empty())
      return invalid_argument("calibration is of use with the precision \"int8\" or an accuracy only");
    NEREID_RETURN_IF_ERROR(read_shapes(options_.shapes, options_.shape_count, network));
    network.strip_weights = options_.strip != 0;
    network.stop = [this] { return stopped_; };
    return Status::ok();
  }
  int threads() const { return threads_; }
  // Layers have precisions of their own.
  bool is_mixed() const { return mixed_.int8 || mixed_.accuracy; }
  Status build_file(const std::string& onnx, const std::string& engine) {
    ThreadPool pool({.threads = threads_, .pin = false});
    if (!is_mixed()) return told(compile::build_network(onnx, engine, network, pool, progress()));
    NEREID_TRY(compile::MixedBuild mixed, compile::open_mixed(onnx, network, mixed_, pool, progress()));
    NEREID_RETURN_IF_ERROR(compile::check_stop(network));
    tell(mixed.remarks);
    return told(compile::write_network(std::move(mixed.opened), std::filesystem::path(onnx).filename().string(), engine,
                                       network, pool, progress()));
  }
  compile::BuildProgress progress() {
    return [this](std::string_view stage, int64_t done, int64_t total) {
      if (options_.progress == nullptr || stopped_) return;
      const std::string text(stage);
      stopped_ = options_.progress(options_.progress_user, text.c_str(), done, total) != 0;
    };
  }
  Status told(const Result<compile::NetworkBuild>& built) const {
    if (!built.is_ok()) return built.status();
    tell(built->opened.warnings);
    tell(built->notes);
    return Status::ok();
  }

  compile::NetworkOptions network;

 private:
  void tell(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines)
      if (options_.log != nullptr) options_.log(options_.log_user, NEREID_LOG_WARNING, line.c_str());
  }

  nereid_build_options options_{};
  compile::MixedOptions mixed_;
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
    return build.build_file(onnx_path, engine_path);
  });
}

nereid_status nereid_build_from_memory(const void* onnx, size_t size, const char* folder, const char* engine_path,
                                       const nereid_build_options* options) {
  return nereid::api::answer([&]() -> nereid::Status {
    if (onnx == nullptr) return nereid::invalid_argument("the bytes of the ONNX file are NULL");
    NEREID_RETURN_IF_ERROR(nereid::api::need(engine_path, "the engine"));
    nereid::api::Build build;
    NEREID_RETURN_IF_ERROR(build.read(options));
    if (build.is_mixed())
      return nereid::unsupported("int8 and mixes of precisions are made of ONNX files, not of their bytes in memory");
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
