// SPDX-License-Identifier: Apache-2.0
// Which precision each layer of a network is to have so that it is as fast as can be with an error under a bound.
// Pure: times and errors come in as numbers, and the error of a whole mix from a function.
//
// Errors of single layers do not tell the error of a mix exactly (they add up, or cancel), but they order the layers
// well. So steps are taken greedily, by the time they save for the error they cost, as far as the measured error of the
// mix allows: the longest row of steps is found by halving, then the steps behind it are tried one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::calibrate {

enum class LayerPrecision : uint8_t { kF32, kBF16, kInt8 };
std::string_view layer_precision_name(LayerPrecision precision);  // "f32", "bf16", "int8"

// A precision below f32 that a layer may have.
struct LowerPrecision {
  LayerPrecision precision = LayerPrecision::kBF16;
  double time = 0;   // of the layer then, any unit
  double error = 0;  // at the network's outputs with this layer alone lowered
};
struct SearchedLayer {
  std::string name;
  double time = 0;  // in f32
  std::vector<LowerPrecision> lower;
};

using PrecisionMix = std::vector<LayerPrecision>;  // one a layer

struct PrecisionSearch {
  const std::vector<SearchedLayer>& layers;
  double bound = 0;
  // A step must save this share of the layer's time, or it is noise.
  double least_gain = 0.03;
  int64_t most_measurements = 40;
};

struct FoundMix {
  PrecisionMix mix;
  double error = 0;  // measured; 0 for f32 throughout
  double time = 0;   // of the layers together, as the times given say
  int64_t measurements = 0;
};

// `measure` gives the error of a mix; its errors end the search. The mix returned was measured (or is f32 throughout)
// and keeps the bound. The same numbers give the same mix.
Result<FoundMix> search_precisions(const PrecisionSearch& search,
                                   const std::function<Result<double>(const PrecisionMix&)>& measure);

double mix_time(const std::vector<SearchedLayer>& layers, const PrecisionMix& mix);

}  // namespace nereid::calibrate
