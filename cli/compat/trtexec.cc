// SPDX-License-Identifier: Apache-2.0
// trtexec: builds an engine of an ONNX file and times it, under that tool's command line, with its report.
#include <fmt/format.h>
#include <stdlib.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/progress.h"
#include "cli/answer.h"
#include "cli/compat/trtexec_report.h"
#include "cli/version.h"
#include "compile/mixed_build.h"
#include "compile/model_kind.h"
#include "compile/network_refit.h"

namespace nereid::cli {
namespace {

constexpr int64_t kProfiledRuns = 20;

// "[11/30/2026-12:01:02] [I] text": what the tool's own log looks like. Warnings and what is fine go to stdout, as
// there.
class Log {
 public:
  void info(std::string_view text) { print("I", text); }
  void warn(std::string_view text) { print("W", text); }
  void error(std::string_view text) { fmt::print(stderr, "{}[E] {}\n", stamp(), text); }
  void lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) info(line);
  }
  // What stdout's reader was told so far is out; not ok when nobody reads it.
  Status flush() {
    const Status written = write_out(text_);
    text_.clear();
    return written;
  }
  void raw(std::string_view text) { text_ += text; }

 private:
  static std::string stamp() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[32];
    return std::string(text, std::strftime(text, sizeof(text), "[%m/%d/%Y-%H:%M:%S] ", &local));
  }
  void print(const char* level, std::string_view text) { text_ += fmt::format("{}[{}] {}\n", stamp(), level, text); }

  std::string text_;
};

std::string banner(std::string_view state, Arguments args) {
  std::string line = fmt::format("&&&& {} TensorRT.trtexec [Nereid v{}] # trtexec", state, kVersion);
  for (const char* arg : args) line += fmt::format(" {}", arg);
  return line + "\n";
}

Status write_json(const std::string& path, const nlohmann::ordered_json& json) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  NEREID_RETURN_IF_ERROR(file.write(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  return file.commit();
}

double seconds_since(int64_t start_ns) {
  return static_cast<double>(now_ns() - start_ns) / 1e9;
}

std::vector<std::string> shape_texts(const compile::InputShapes& shapes) {
  std::vector<std::string> texts;
  for (const auto& [name, sizes] : shapes) texts.push_back(fmt::format("{}:{}", name, fmt::join(sizes, "x")));
  return texts;
}

// Goes with what is in it.
class TempFolder {
 public:
  static Result<TempFolder> create() {
    std::error_code ec;
    std::string name = (std::filesystem::temp_directory_path(ec) / "nereid-trtexec-XXXXXX").string();
    if (ec || ::mkdtemp(name.data()) == nullptr)
      return exhausted("there is no place for the refitted engine in {}; name one with --saveEngine=FILE", name);
    return TempFolder(std::move(name));
  }
  TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempFolder& operator=(TempFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TempFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit TempFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  return lines;
}

class Trtexec {
 public:
  Trtexec(const TrtexecOptions& options, Log& log) : o_(options), log_(log) {}

  Status run() {
    for (const std::string& remark : o_.remarks) log_.warn(remark);
    if (!o_.isa.empty()) {
      NEREID_TRY(isa_, best_isa(read_cpu_info().features, o_.isa).with("--isa"));
    }
    ThreadPool pool({.threads = o_.threads});
    tell_options(pool.size());
    std::string model = o_.onnx.empty() ? o_.load_engine : o_.onnx;
    if (!o_.load_engine.empty() && compile::model_kind(model) != compile::ModelKind::kNetworkEngine)
      return invalid_argument("{} is no engine of a network; trtexec --onnx=FILE --saveEngine=FILE makes one", model);
    if (o_.dump_refit && !o_.load_engine.empty()) NEREID_RETURN_IF_ERROR(tell_weights(model));
    std::optional<TempFolder> folder;  // of an engine that is refitted and not saved
    if (!o_.refit_from.empty()) {
      if (o_.save_engine.empty()) {
        NEREID_TRY(folder, TempFolder::create());
      }
      const std::string refitted = folder ? folder->path() + "/refitted.engine" : o_.save_engine;
      NEREID_RETURN_IF_ERROR(refit(refitted, pool));
      model = refitted;
    } else if (!o_.save_engine.empty() || (o_.int8 && o_.load_engine.empty())) {
      if (o_.save_engine.empty()) {
        NEREID_TRY(folder, TempFolder::create());
      }
      const std::string built = folder ? folder->path() + "/int8.engine" : o_.save_engine;
      NEREID_RETURN_IF_ERROR(build(built, pool));
      if (o_.dump_refit) NEREID_RETURN_IF_ERROR(tell_weights(built));
      // An engine without weights cannot run: the file can.
      if (!o_.strip) model = built;
    }
    NEREID_RETURN_IF_ERROR(log_.flush());
    if (o_.skip_inference && o_.save_engine.empty() && !folder) {
      NEREID_TRY(const compile::OpenedNetwork opened, compile::open_network(model, network_options(), pool));
      log_.info(fmt::format("Engine built in {:.6g} sec.", (opened.import_ms + opened.optimise_ms) / 1e3));
      return Status::ok();
    }
    if (o_.skip_inference) {
      log_.info("Skipped inference phase since --skipInference is added.");
      return Status::ok();
    }
    return infer(model, pool);
  }

 private:
  compile::NetworkOptions network_options() const {
    return {.import = {.shapes = o_.fixed_shapes(), .overridden = {}},
            .disabled_passes = {},
            .precision = precision(),
            .isa = isa_,
            .level = o_.level,
            .timing_cache = o_.timing_cache,
            .strip_weights = o_.strip};
  }

  runtime::NetPrecision precision() const {
    return o_.bf16 ? runtime::NetPrecision::kBF16 : runtime::NetPrecision::kF32;
  }

  void tell_options(int threads) {
    log_.lines(
        {"=== Model Options ===", fmt::format("Format: {}", o_.onnx.empty() ? "*" : "ONNX"),
         fmt::format("Model: {}", o_.onnx), "",
         "=== Build Options ===", fmt::format("Precision: FP32{}{}", o_.bf16 ? "+BF16" : "", o_.int8 ? "+INT8" : ""),
         fmt::format("Calibration: {}", !o_.calib.empty() ? o_.calib
                                        : o_.int8         ? "Dynamic"
                                                          : ""),
         fmt::format("Builder optimization level: {}", o_.level), fmt::format("timingCacheFile: {}", o_.timing_cache),
         fmt::format("Save engine: {}", o_.save_engine), fmt::format("Load engine: {}", o_.load_engine), "",
         "=== Inference Options ===", fmt::format("Iterations: {}", o_.iterations),
         fmt::format("Duration: {:g}s (+ {:g}ms warm up)", o_.duration_s, o_.warmup_ms), "",
         "=== Device Information ===",
         fmt::format("Selected Device: this machine's CPU, {} thread{}", threads, threads == 1 ? "" : "s"), ""});
  }

  // A network that says itself where it is int8 is left as it is; ranges of random inputs are for timing, as there.
  Result<compile::NetworkBuild> build_int8(const std::string& engine, ThreadPool& pool) {
    if (!o_.calib.empty()) NEREID_RETURN_IF_ERROR(file_info(o_.calib).status().with("--calib"));
    NEREID_TRY(const compile::MixedBuild mixed,
               compile::open_mixed(o_.onnx, network_options(),
                                   {.int8 = true, .calib_cache = o_.calib, .random_ranges = o_.calib.empty()}, pool));
    for (const std::string& remark : mixed.remarks) log_.warn(remark);
    if (o_.calib.empty())
      log_.warn("The ranges of int8 come from random inputs: times are real, answers are not. Give --calib=FILE.");
    log_.lines(split_lines("Accuracy " + compile::certificate_text(mixed.certificate)));
    return compile::write_network(mixed.opened, std::filesystem::path(o_.onnx).filename().string(), engine,
                                  network_options(), pool);
  }

  Status build(const std::string& engine, ThreadPool& pool) {
    NEREID_TRY(const compile::NetworkBuild built,
               o_.int8 ? build_int8(engine, pool) : compile::build_network(o_.onnx, engine, network_options(), pool));
    for (const std::string& warning : built.opened.warnings) log_.warn(warning);
    for (const std::string& note : built.notes) log_.warn(note);
    if (o_.verbose) log_.raw(built.opened.passes.to_text() + built.choices.to_text());
    log_.info(fmt::format("Engine built in {:.6g} sec.", built.build_ms / 1e3));
    log_.info(fmt::format("Created engine with size: {:.6g} MiB", static_cast<double>(built.file_bytes) / (1 << 20)));
    return Status::ok();
  }

  Status refit(const std::string& result, ThreadPool& pool) {
    const int64_t start_ns = now_ns();
    NEREID_TRY(const compile::NetworkBuild built,
               compile::refit_network(o_.load_engine, o_.refit_from, result, network_options(), pool));
    for (const std::string& warning : built.opened.warnings) log_.warn(warning);
    log_.info(fmt::format("Engine refitted from {}.", o_.refit_from));
    if (o_.time_refit) log_.info(fmt::format("Engine refitted in {:.6g} sec.", seconds_since(start_ns)));
    return Status::ok();
  }

  Status tell_weights(const std::string& engine) {
    NEREID_TRY(const auto weights, compile::refittable_weights(engine));
    log_.info("Refittable weights:");
    for (const auto& w : weights) log_.info(fmt::format("{}: {}", w.name, w.type));
    return Status::ok();
  }

  Status infer(const std::string& model, ThreadPool& pool) {
    const compile::SessionOptions options = {.model = model,
                                             .inputs = o_.inputs,
                                             .shapes = shape_texts(o_.run),
                                             .precision = precision(),
                                             .isa = isa_,
                                             .level = o_.level,
                                             .timing_cache = o_.timing_cache};
    const int64_t start_ns = now_ns();
    NEREID_TRY(const compile::NetworkSession session, compile::open_session(options, pool));
    log_.info(fmt::format("Engine {} in {:.6g} sec.", session.is_engine ? "loaded" : "built", seconds_since(start_ns)));
    for (const std::string& warning : session.network.warnings) log_.warn(warning);
    for (const std::string& remark : session.remarks) log_.warn(remark);
    NEREID_TRY(const std::unique_ptr<runtime::NetContext> context, session.context(pool));
    tell_bindings(session);
    log_.info("Starting inference");
    NEREID_RETURN_IF_ERROR(log_.flush());

    compile::TimingOptions timing = {
        .iterations = o_.iterations, .duration_s = o_.duration_s, .warmup_ms = o_.warmup_ms, .idle_ms = o_.idle_ms};
    NEREID_TRY(const compile::TimedRuns runs, compile::time_runs(session, *context, timing));
    log_.info(fmt::format("Warmup completed {} queries over {:g} ms", runs.warmup_runs, o_.warmup_ms));
    log_.info(fmt::format("Timing trace has {} queries over {:.6g} s", runs.runs.size(), runs.wall_ms / 1e3));
    const std::vector<TrtexecTimes> times = trtexec_times(runs);
    log_.lines(trace_lines(times, o_.average_runs));
    if (o_.dump_output) tell_outputs(session, *context);
    log_.lines(summary_lines(times, runs.wall_ms, o_.percentiles));
    log_.info("");
    if (!o_.export_times.empty()) NEREID_RETURN_IF_ERROR(write_json(o_.export_times, times_json(times)));
    if (!o_.export_output.empty())
      NEREID_RETURN_IF_ERROR(write_json(o_.export_output, outputs_json(session.network, *context)));
    return tell_layers(session, *context);
  }

  void tell_bindings(const compile::NetworkSession& session) {
    for (const compile::NamedType& in : session.network.inputs) {
      bool given = false;
      for (const std::string& text : o_.inputs) given |= text.starts_with(in.name + "=");
      log_.info(fmt::format("Using {} for input {}", given ? "values loaded from a file" : "random values", in.name));
      const ops::Datum& value = session.values.at(in.name);
      log_.info(fmt::format("Input binding for {} with dimensions {} is created.", in.name,
                            value.is_tensor() ? fmt::format("{}", fmt::join(value.tensor.sizes, "x")) : "?"));
    }
    for (const compile::NamedType& o : session.network.outputs)
      log_.info(fmt::format("Output binding for {} is created.", o.name));
  }

  void tell_outputs(const compile::NetworkSession& session, const runtime::NetContext& context) {
    log_.info("Output Tensors:");
    for (const auto& one : outputs_json(session.network, context)) {
      const std::string sizes = one["dimensions"].is_string() ? one["dimensions"].get<std::string>() : "?";
      log_.info(fmt::format("{}: ({})", one["name"].get<std::string>(), sizes));
      std::string values;
      for (const auto& value : one["values"]) {
        if (!values.empty()) values += ' ';
        values += value.dump();
      }
      log_.info(values);
    }
  }

  Status tell_layers(const compile::NetworkSession& session, runtime::NetContext& context) {
    if (o_.wants_profile()) {
      NEREID_TRY(const std::vector<compile::LayerTime> layers, compile::profile_runs(context, kProfiledRuns));
      if (o_.dump_profile) log_.lines(profile_lines(layers));
      if (!o_.export_profile.empty()) NEREID_RETURN_IF_ERROR(write_json(o_.export_profile, profile_json(layers)));
    }
    if (!o_.dump_layers && o_.export_layers.empty()) return Status::ok();
    const nlohmann::ordered_json layers =
        layers_json(compile::layer_infos(session.network), session.network, o_.detailed);
    if (o_.dump_layers) {
      log_.info("Layer Information:");
      for (const char* part : {"Layers", "Bindings"}) {
        log_.info(fmt::format("{}:", part));
        for (const auto& one : layers[part]) log_.info(one.is_string() ? one.get<std::string>() : one.dump());
        log_.info("");
      }
    }
    return o_.export_layers.empty() ? Status::ok() : write_json(o_.export_layers, layers);
  }

  const TrtexecOptions& o_;
  Log& log_;
  std::optional<Isa> isa_;
};

}  // namespace

int trtexec_command(Arguments args) {
  Log log;
  const bool asks_for_help =
      args.empty() ||
      (args.size() == 1 && (std::string_view(args[0]) == "--help" || std::string_view(args[0]) == "-h"));
  if (asks_for_help) {
    const Status written = write_out(trtexec_help());
    return written.is_ok() ? kDone : fail(written);
  }
  log.raw(banner("RUNNING", args));
  Status status;
  if (Result<TrtexecOptions> options = parse_trtexec(args); !options.is_ok())
    status = options.status();
  else if (options->help)
    log.raw(trtexec_help());
  else
    status = Trtexec(*options, log).run();
  if (!status.is_ok()) log.error(status.message());
  log.raw(banner(status.is_ok() ? "PASSED" : "FAILED", args));
  if (const Status written = log.flush(); !written.is_ok()) return fail(written);
  return exit_code(status);
}

}  // namespace nereid::cli
