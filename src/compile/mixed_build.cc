// SPDX-License-Identifier: Apache-2.0
#include "compile/mixed_build.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "compile/bench_network.h"
#include "compile/calibrate.h"
#include "compile/calibration_data.h"
#include "passes/quantize_layers.h"

namespace nereid::compile {
namespace {

constexpr size_t kMostCacheBytes = size_t{64} << 20;
constexpr int64_t kRandomSamples = 4;  // where there are no others
constexpr int64_t kMostSamples = 32;   // that errors are measured on
constexpr int64_t kFewSamples = 4;     // that a single layer's error is measured on
constexpr int64_t kProfiledRuns = 5;
constexpr int64_t kTimedRounds = 7;
constexpr double kWorthIt = 0.99;  // a mix must take less of the time of f32 than this

class Builder {
 public:
  Builder(const NetworkOptions& network, const MixedOptions& options, ThreadPool& pool, const BuildProgress& progress)
      : network_(network), options_(options), pool_(pool), progress_(progress) {}

  Result<MixedBuild> run(const std::string& path) {
    step("reading and optimising", 0, 0);
    NEREID_TRY(mixed_, MixedNetwork::open(path, network_));
    if (!options_.calib_folder.empty()) {
      NEREID_TRY(data_, CalibrationData::open(options_.calib_folder, mixed_.inputs()));
    }
    take_samples();
    // Who quantised the network chose its layers; ranges of random inputs are no reason to add to them.
    const bool guess = options_.random_ranges && !data_;
    const bool leave = guess && passes::has_codes(mixed_.calibrated());
    if (leave) {
      out_.remarks.emplace_back("the network says itself which layers are int8: no others are made so");
    } else if (const Status found = find_ranges(); !found.is_ok()) {
      if (!guess || found.code() != StatusCode::kInvalidArgument) return found;
      out_.remarks.push_back("random inputs tell no ranges: " + std::string(found.message()));
    }
    NEREID_RETURN_IF_ERROR(look_at_layers());
    step("running in f32", 0, 0);
    Result<AccuracySamples> exact =
        AccuracySamples::create(mixed_.f32(), std::min(samples_.count, kMostSamples), samples_.read, pool_);
    const bool is_measured = exact.is_ok();
    if (is_measured) {
      accuracy_ = std::move(exact).value();
    } else if (options_.accuracy || data_ || exact.status().code() != StatusCode::kInvalidArgument) {
      return exact.status();
    } else {
      // Random inputs may be none that the network can take: a mask should be ones and zeros.
      out_.remarks.push_back("the accuracy is not measured: " + std::string(exact.status().message()));
    }
    calibrate::PrecisionMix mix =
        mixed_.all(leave ? calibrate::LayerPrecision::kF32 : calibrate::LayerPrecision::kInt8);
    if (options_.accuracy) {
      NEREID_TRY(mix, search());
    } else if (!leave && std::ranges::count(mix, calibrate::LayerPrecision::kInt8) == 0) {
      out_.remarks.emplace_back("the network has no layer that could multiply in int8: it stays f32");
    }
    NEREID_TRY(out_.opened, mixed_.with(mix));
    step("measuring the error", 0, 0);
    NetworkError error;
    if (is_measured) {
      NEREID_TRY(error, accuracy_.measure(out_.opened, kMostSamples, pool_));
    }
    certify(mix, error);
    return std::move(out_);
  }

 private:
  void step(std::string_view what, int64_t done, int64_t total) const {
    if (progress_) progress_(what, done, total);
  }

  // Convolutions need ranges.
  Status look_at_layers() {
    const auto without = std::ranges::count_if(mixed_.layers(), [&](const MixedNetwork::Layer& layer) {
      return !layer.int8.empty() && !mixed_.can_be(layer, calibrate::LayerPrecision::kInt8);
    });
    const calibrate::PrecisionMix mix = mixed_.all(calibrate::LayerPrecision::kInt8);
    const bool some = std::ranges::find(mix, calibrate::LayerPrecision::kInt8) != mix.end();
    if (without == 0 || mixed_.has_ranges()) return Status::ok();
    if (options_.int8 && !some)
      return invalid_argument(
          "--precision int8 needs the ranges of what the {} convolutions read: give samples of inputs with --calib "
          "DIR, "
          "or a cache with --calib-cache FILE",
          without);
    out_.remarks.push_back(
        fmt::format("{} convolutions are not tried in int8, which needs samples (--calib DIR); products take the range "
                    "of each run",
                    without));
    return Status::ok();
  }

  // From the cache where it has them all, else from the data.
  Status find_ranges() {
    const std::set<std::string> activations = mixed_.activations();
    calibrate::CalibrationTable table;
    std::error_code ec;
    const bool has_cache = !options_.calib_cache.empty() && std::filesystem::exists(options_.calib_cache, ec);
    if (has_cache) {
      NEREID_TRY(const std::string text, read_file(options_.calib_cache, kMostCacheBytes));
      NEREID_TRY(table, calibrate::parse_calibration_table(text).with(options_.calib_cache));
      const bool wanted = !options_.method || table.is_foreign || options_.method->name() == table.method;
      if (!wanted && data_)
        table = {};
      else if (!wanted)
        return invalid_argument("the calibration cache {} was made by {}, and {} is wanted; give --calib DIR as well",
                                options_.calib_cache, table.method, options_.method->name());
      ranges_from_ =
          fmt::format("{} ({})", std::filesystem::path(options_.calib_cache).filename().string(), table.method);
    }
    std::string missing;
    for (const std::string& name : activations)
      if (missing.empty() && !table.ranges.contains(name)) missing = name;
    if (missing.empty() || (has_cache && table.is_foreign)) {
      // TensorRT's caches know some tensors only: layers that read others stay as they are.
      mixed_.set_ranges(std::move(table.ranges));
      return Status::ok();
    }
    if (!data_ && !options_.random_ranges) {
      if (!has_cache) return Status::ok();
      return invalid_argument(
          "the calibration cache {} says nothing of the activation '{}'; calibrate this network with "
          "--calib DIR",
          options_.calib_cache, missing);
    }
    const calibrate::RangeMethod method = options_.method.value_or(calibrate::RangeMethod{});
    calibrate::CalibrationTable fresh{.method = method.name(), .ranges = {}};
    NEREID_TRY(fresh.ranges,
               calibrate({.graph = mixed_.calibrated(),
                          .storage = mixed_.storage(),
                          .samples = samples_,
                          .activations = activations,
                          .method = method,
                          .isa = mixed_.f32().network->kernels().isa,
                          .progress = [&](int64_t done, int64_t total) { step("calibrating", done, total); }},
                         pool_));
    ranges_from_ = fmt::format("{} {}, {}", samples_.count, data_ ? "samples" : "random inputs", method.name());
    if (!options_.calib_cache.empty()) {
      NEREID_TRY(AtomicFile file, AtomicFile::create(options_.calib_cache));
      NEREID_RETURN_IF_ERROR(file.write(calibrate::print_calibration_table(fresh)));
      NEREID_RETURN_IF_ERROR(file.commit());
    }
    mixed_.set_ranges(std::move(fresh.ranges));
    return Status::ok();
  }

  // Calibration data, else random inputs of the sizes that the build plans for.
  void take_samples() {
    if (data_) {
      samples_.count = data_->size();
      samples_.read = [this](int64_t i) { return data_->read(i); };
      samples_.name = [this](int64_t i) { return "the calibration sample " + data_->name(i); };
    } else {
      const std::vector<InputType> inputs = mixed_.inputs();
      const InputShapes shapes = complete_shapes(inputs, network_.import.shapes, out_.remarks);
      samples_.count = kRandomSamples;
      samples_.read = [inputs, shapes, seed = options_.seed](int64_t i) {
        return read_inputs(inputs, {}, shapes, seed + static_cast<uint64_t>(i));
      };
      samples_.name = [](int64_t i) { return fmt::format("the random inputs {}", i + 1); };
    }
  }
  std::string samples_text(int64_t used) const {
    if (!data_) return fmt::format("{} random inputs, seed {}", used, options_.seed);
    return used == samples_.count ? fmt::format("{} calibration samples", used)
                                  : fmt::format("{} of {} calibration samples", used, samples_.count);
  }

  Status set_inputs(const OpenedNetwork& network, runtime::NetContext& context, const NamedValues& inputs) const {
    for (size_t i = 0; i < network.inputs.size(); ++i)
      NEREID_RETURN_IF_ERROR(context.set_input(i, inputs.find(network.inputs[i].name)->second));
    return Status::ok();
  }

  struct LayerRun {
    double ms = 0;  // the least of a few runs
    std::string kernel;
  };
  Result<std::map<std::string, LayerRun>> layer_runs(const OpenedNetwork& network, const NamedValues& inputs) {
    const auto context = runtime::NetContext::create(network.network, pool_);
    NEREID_RETURN_IF_ERROR(set_inputs(network, *context, inputs));
    NEREID_RETURN_IF_ERROR(context->run());
    NEREID_TRY(const std::vector<LayerTime> layers, profile_runs(*context, kProfiledRuns));
    std::map<std::string, LayerRun> out;
    for (const LayerTime& layer : layers) {
      if (layer.ms.empty()) continue;
      LayerRun& run = out[layer_of_label(layer.label)];
      run.ms += *std::ranges::min_element(layer.ms);
      run.kernel += layer.kernel;
    }
    return out;
  }

  Result<calibrate::PrecisionMix> search() {
    NEREID_TRY(const NamedValues first, samples_.read(0));
    step("timing layers", 0, 0);
    NEREID_TRY(const auto f32_runs, layer_runs(mixed_.f32(), first));
    std::vector<calibrate::SearchedLayer> layers;
    for (const MixedNetwork::Layer& layer : mixed_.layers()) {
      const auto it = f32_runs.find(layer.name);
      layers.push_back({.name = layer.name, .time = it == f32_runs.end() ? 0 : it->second.ms, .lower = {}});
    }
    for (const calibrate::LayerPrecision precision :
         {calibrate::LayerPrecision::kBF16, calibrate::LayerPrecision::kInt8}) {
      const calibrate::PrecisionMix all = mixed_.all(precision);
      NEREID_TRY(const OpenedNetwork network, mixed_.with(all));
      NEREID_TRY(const auto runs, layer_runs(network, first));
      for (size_t i = 0; i < layers.size(); ++i) {
        const auto it = runs.find(layers[i].name), before = f32_runs.find(layers[i].name);
        // What runs on the same kernel as in f32 (bf16 has none of its own for it) is only timed twice.
        if (all[i] != precision || it == runs.end() || before == f32_runs.end() ||
            it->second.kernel == before->second.kernel)
          continue;
        layers[i].lower.push_back({.precision = precision, .time = it->second.ms, .error = HUGE_VAL});
      }
    }
    NEREID_RETURN_IF_ERROR(single_errors(layers));
    const calibrate::PrecisionSearch request{.layers = layers, .bound = *options_.accuracy};
    int64_t measured = 0;
    NEREID_TRY(calibrate::FoundMix found,
               calibrate::search_precisions(request, [&](const calibrate::PrecisionMix& mix) -> Result<double> {
                 step("measuring mixes", ++measured, request.most_measurements);
                 return error_of(mix, kMostSamples);
               }));
    NEREID_TRY(calibrate::PrecisionMix best, fastest(found.mix, first));
    for (size_t i = 0; i < layers.size(); ++i)
      out_.layers.push_back({.name = layers[i].name, .chosen = best[i], .searched = layers[i]});
    return best;
  }

  // The errors of layers lowered one at a time, where lowering them saves time at all.
  Status single_errors(std::vector<calibrate::SearchedLayer>& layers) {
    const double least_gain = calibrate::PrecisionSearch{.layers = layers}.least_gain;
    int64_t total = 0, done = 0;
    const auto saves = [&](const calibrate::SearchedLayer& layer, const calibrate::LowerPrecision& lower) {
      return lower.time <= layer.time * (1 - least_gain);
    };
    for (const calibrate::SearchedLayer& layer : layers)
      for (const calibrate::LowerPrecision& lower : layer.lower) total += saves(layer, lower) ? 1 : 0;
    for (size_t i = 0; i < layers.size(); ++i)
      for (calibrate::LowerPrecision& lower : layers[i].lower) {
        if (!saves(layers[i], lower)) continue;
        calibrate::PrecisionMix mix(layers.size(), calibrate::LayerPrecision::kF32);
        mix[i] = lower.precision;
        NEREID_TRY(lower.error, error_of(mix, kFewSamples));
        step("measuring layers", ++done, total);
      }
    if (total == 0)
      out_.remarks.push_back(fmt::format(
          "none of the {} layers is faster in bf16 or int8 than in f32 on this machine: the network stays f32",
          layers.size()));
    return Status::ok();
  }

  Result<double> error_of(const calibrate::PrecisionMix& mix, int64_t most) {
    NEREID_TRY(const OpenedNetwork network, mixed_.with(mix));
    NEREID_TRY(const NetworkError error, accuracy_.measure(network, most, pool_));
    return error.max_error();
  }

  // What layers save is not what the network saves, since int8 layers that stand together save more: the mix that was
  // found runs against f32, and against one precision throughout where that keeps the bound.
  Result<calibrate::PrecisionMix> fastest(const calibrate::PrecisionMix& found, const NamedValues& inputs) {
    std::vector<calibrate::PrecisionMix> mixes = {mixed_.all(calibrate::LayerPrecision::kF32)};
    for (const calibrate::PrecisionMix& mix :
         {found, mixed_.all(calibrate::LayerPrecision::kBF16), mixed_.all(calibrate::LayerPrecision::kInt8)}) {
      if (std::ranges::find(mixes, mix) != mixes.end()) continue;
      if (mix != found) {
        NEREID_TRY(const double error, error_of(mix, kMostSamples));
        if (!(error <= *options_.accuracy)) continue;
      }
      mixes.push_back(mix);
    }
    std::vector<OpenedNetwork> networks;
    std::vector<std::unique_ptr<runtime::NetContext>> contexts;
    for (const calibrate::PrecisionMix& mix : mixes) {
      NEREID_TRY(OpenedNetwork network, mixed_.with(mix));
      networks.push_back(std::move(network));
      contexts.push_back(runtime::NetContext::create(networks.back().network, pool_));
      NEREID_RETURN_IF_ERROR(set_inputs(networks.back(), *contexts.back(), inputs));
      NEREID_RETURN_IF_ERROR(contexts.back()->run());
    }
    std::vector<double> least(mixes.size(), HUGE_VAL);
    for (int64_t round = 0; round < kTimedRounds; ++round)
      for (size_t i = 0; i < mixes.size(); ++i) {
        NEREID_RETURN_IF_ERROR(check_interrupted());
        const int64_t start = now_ns();
        NEREID_RETURN_IF_ERROR(contexts[i]->run());
        least[i] = std::min(least[i], static_cast<double>(now_ns() - start) / 1e6);
        step("timing mixes", round * static_cast<int64_t>(mixes.size()) + static_cast<int64_t>(i) + 1,
             kTimedRounds * static_cast<int64_t>(mixes.size()));
      }
    size_t best = 0;
    for (size_t i = 1; i < mixes.size(); ++i)
      if (least[i] < least[best] && least[i] <= kWorthIt * least[0]) best = i;
    out_.f32_ms = least[0];
    out_.mixed_ms = least[best];
    if (best == 0 && mixes.size() > 1)
      out_.remarks.push_back(
          fmt::format("the fastest mix under the bound takes {:.3f} ms and f32 takes {:.3f} ms: the network stays f32",
                      *std::min_element(least.begin() + 1, least.end()), least[0]));
    return mixes[best];
  }

  void certify(const calibrate::PrecisionMix& mix, const NetworkError& error) {
    Json outputs = Json::array();
    for (const OutputError& o : error.outputs) {
      Json one = {{"name", o.name}, {"elements", o.elements}};
      if (o.is_exact) {
        one["unequal"] = o.unequal;
      } else {
        // Numbers that JSON can hold; broken outputs have none.
        one["range"] = o.range;
        one["max_error"] = std::isfinite(o.max_error()) ? Json(o.max_error()) : Json();
        one["mean_error"] = std::isfinite(o.mean_error()) ? Json(o.mean_error()) : Json();
      }
      outputs.push_back(std::move(one));
    }
    Json layers = Json::object();
    for (const calibrate::LayerPrecision p :
         {calibrate::LayerPrecision::kF32, calibrate::LayerPrecision::kBF16, calibrate::LayerPrecision::kInt8})
      layers[std::string(calibrate::layer_precision_name(p))] = std::ranges::count(mix, p);
    out_.certificate = {{"against", "f32"},
                        {"measure", "|difference| over the range of the f32 output"},
                        {"samples", error.samples},
                        {"data", samples_text(error.samples)},
                        {"outputs", std::move(outputs)},
                        {"layers", std::move(layers)}};
    if (options_.accuracy) out_.certificate["bound"] = *options_.accuracy;
    if (!ranges_from_.empty()) out_.certificate["calibration"] = ranges_from_;
    out_.opened.certificate = out_.certificate.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  const NetworkOptions& network_;
  const MixedOptions& options_;
  ThreadPool& pool_;
  const BuildProgress& progress_;
  MixedNetwork mixed_;
  std::optional<CalibrationData> data_;
  std::string ranges_from_;
  SampleSource samples_;
  AccuracySamples accuracy_;
  MixedBuild out_;
};

}  // namespace

Result<MixedBuild> open_mixed(const std::string& path, const NetworkOptions& network, const MixedOptions& options,
                              ThreadPool& pool, const BuildProgress& progress) {
  return Builder(network, options, pool, progress).run(path);
}

Result<std::optional<MixedBuild>> mix_session(NetworkSession& session, const std::string& model,
                                              const MixedOptions& options, ThreadPool& pool) {
  if (session.is_engine) return std::optional<MixedBuild>();
  NetworkOptions network{
      .import = {}, .disabled_passes = {}, .isa = session.network.network->kernels().isa, .timing_cache = {}};
  for (const auto& [name, value] : session.values) {
    network.import.overridden.insert(name);
    if (value.is_tensor()) network.import.shapes.emplace(name, value.tensor.sizes);
  }
  NEREID_TRY(MixedBuild build, open_mixed(model, network, options, pool));
  session.network = build.opened;
  session.remarks.insert(session.remarks.end(), build.remarks.begin(), build.remarks.end());
  return std::optional(std::move(build));
}

}  // namespace nereid::compile
