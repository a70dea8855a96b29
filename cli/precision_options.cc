// SPDX-License-Identifier: Apache-2.0
#include "cli/precision_options.h"

#include <cmath>

#include "base/table.h"
#include "cli/inspect_text.h"

namespace nereid::cli {
namespace {

using calibrate::LayerPrecision;

const calibrate::LowerPrecision* lower(const compile::LayerReport& layer, calibrate::LayerPrecision precision) {
  for (const calibrate::LowerPrecision& l : layer.searched.lower)
    if (l.precision == precision) return &l;
  return nullptr;
}

std::string time_text(const calibrate::LowerPrecision* l) {
  return l == nullptr ? "" : fmt::format("{:.1f}", l->time * 1e3);
}
std::string error_text(const calibrate::LowerPrecision* l) {
  return l == nullptr || !std::isfinite(l->error) ? "" : fmt::format("{:.2g}", l->error);
}

std::string layers_table(const compile::MixedBuild& build) {
  using Align = Table::Align;
  Table table({{"layer"},
               {"chosen"},
               {"f32 us", Align::right},
               {"bf16 us", Align::right},
               {"bf16 error", Align::right},
               {"int8 us", Align::right},
               {"int8 error", Align::right}});
  for (const compile::LayerReport& layer : build.layers) {
    const auto *bf16 = lower(layer, calibrate::LayerPrecision::kBF16),
               *int8 = lower(layer, calibrate::LayerPrecision::kInt8);
    table.add_row({one_line(layer.name, 60), std::string(calibrate::layer_precision_name(layer.chosen)),
                   fmt::format("{:.1f}", layer.searched.time * 1e3), time_text(bf16), error_text(bf16), time_text(int8),
                   error_text(int8)});
  }
  return table.markdown();
}

}  // namespace

PrecisionOptions::PrecisionOptions(CommandLine& app) {
  app.add_option(
         "--precision", precision_,
         "what products and convolutions multiply in: f32, bf16 (sums are f32) or int8 (of convolutions only with "
         "--calib or --calib-cache)")
      ->capture_default_str();
  app.add_option("--calib", calib_,
                 "DIR with samples of inputs, from which int8 takes its ranges and accuracy is measured: a folder, an "
                 ".npz or (of one input) a .npy or .pb file a sample");
  app.add_option("--calib-method", method_,
                 "how ranges are chosen: min-max (unless it is said), entropy or percentile[:99.99]");
  app.add_option("--calib-cache", cache_,
                 "FILE of ranges: read where it exists (TensorRT's caches too), else written after --calib");
  app.add_option("--accuracy", accuracy_,
                 "a bound such as 1e-2: finds the fastest mix of precisions per layer whose largest error stays under "
                 "this share of the outputs' range, and writes what was measured into the engine");
  app.add_option("--calib-seed", seed_, "of the random inputs that stand in for samples where there are none")
      ->capture_default_str();
}

Result<runtime::NetPrecision> PrecisionOptions::precision() const {
  if (!calib_.empty() || !cache_.empty() || !method_.empty())
    return invalid_argument("calibration is of use with --precision int8 or --accuracy only, and the precision is {}",
                            precision_);
  if (precision_ != "f32" && precision_ != "bf16")
    return invalid_argument("there is no precision '{}' here; networks run in f32, bf16 or int8", precision_);
  return compile::precision_from_name(precision_);
}

Result<compile::MixedOptions> PrecisionOptions::mixed() const {
  compile::MixedOptions out{.int8 = precision_ == "int8",
                            .accuracy = accuracy_,
                            .calib_folder = calib_,
                            .calib_cache = cache_,
                            .seed = seed_};
  if (precision_ != "f32" && precision_ != "bf16" && precision_ != "int8")
    return invalid_argument("there is no precision '{}' here; networks run in f32, bf16 or int8", precision_);
  if (accuracy_ && !(*accuracy_ > 0 && std::isfinite(*accuracy_)))
    return invalid_argument("--accuracy takes a number over 0, such as 1e-2, found {}", *accuracy_);
  if (!method_.empty()) {
    NEREID_TRY(out.method, calibrate::range_method_from_name(method_).with("--calib-method"));
  }
  return out;
}

std::string mixed_text(const compile::MixedBuild& build, bool explain) {
  std::string text;
  for (const std::string& remark : build.remarks) text += "note: " + remark + "\n";
  if (explain && !build.layers.empty()) text += layers_table(build);
  if (build.f32_ms > 0) text += fmt::format("a run takes {:.3f} ms, in f32 {:.3f} ms\n", build.mixed_ms, build.f32_ms);
  return text + "accuracy " + compile::certificate_text(build.certificate);
}

nlohmann::ordered_json mixed_json(const compile::MixedBuild& build) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const compile::LayerReport& layer : build.layers) {
    nlohmann::ordered_json row = {{"layer", layer.name},
                                  {"chosen", calibrate::layer_precision_name(layer.chosen)},
                                  {"f32_ms", layer.searched.time}};
    for (const calibrate::LowerPrecision& l : layer.searched.lower) {
      const std::string name(calibrate::layer_precision_name(l.precision));
      row[name + "_ms"] = l.time;
      row[name + "_error"] = std::isfinite(l.error) ? nlohmann::ordered_json(l.error) : nlohmann::ordered_json();
    }
    layers.push_back(std::move(row));
  }
  return {{"certificate", build.certificate},
          {"remarks", build.remarks},
          {"f32_ms", build.f32_ms},
          {"mixed_ms", build.mixed_ms},
          {"layers", std::move(layers)}};
}

}  // namespace nereid::cli
