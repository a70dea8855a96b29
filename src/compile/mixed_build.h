// SPDX-License-Identifier: Apache-2.0
// A network in lower precision, with what is known of its accuracy: `nereid build --precision int8` and `--accuracy`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/mixed_network.h"
#include "compile/network_engine.h"

namespace nereid::compile {

struct MixedOptions {
  bool int8 = false;               // every layer that can be
  std::optional<double> accuracy;  // the bound of a search among all precisions
  std::string calib_folder;        // samples (calibration_data.h); empty: none
  std::string calib_cache;         // ranges found before; written where there are none yet
  std::optional<calibrate::RangeMethod> method;
  bool random_ranges = false;  // where there are neither samples nor a cache: ranges of random inputs, for timing only
  uint64_t seed = 1;           // of the inputs that stand in for samples
};

// What is said of a layer that a search looked at.
struct LayerReport {
  std::string name;
  calibrate::LayerPrecision chosen = calibrate::LayerPrecision::kF32;
  calibrate::SearchedLayer searched;  // times in ms
};

struct MixedBuild {
  OpenedNetwork opened;
  Json certificate;                  // for the engine's info; the same for the same mix on the same samples
  std::vector<std::string> remarks;  // full sentences
  std::vector<LayerReport> layers;   // of a search
  double f32_ms = 0, mixed_ms = 0;   // of a search: a run of the whole network
};

// Errors: kInvalidArgument for calibration data or a cache that cannot be used, or when int8 is wanted and there is
// neither; those of running the network.
Result<MixedBuild> open_mixed(const std::string& path, const NetworkOptions& network, const MixedOptions& options,
                              ThreadPool& pool, const BuildProgress& progress = {});

// Puts a network in lower precision, of the session's model and with the sizes of its values, in the place of the
// session's network. An engine has the precisions it was built with: nothing is done.
Result<std::optional<MixedBuild>> mix_session(NetworkSession& session, const std::string& model,
                                              const MixedOptions& options, ThreadPool& pool);

// The certificate in words, a line a fact.
std::string certificate_text(const Json& certificate);

}  // namespace nereid::compile
